"""Make the pictures of docs/gallery.md by running its commands: `python benchmarks/gallery.py [PICTURE...]`."""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from PIL import Image

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "gallery.md"
KEPT = ROOT / "docs" / "assets" / "gallery"
WIDEST, MOST, COLOURS = 1200, 60_000, (128, 64, 32, 16)  # pixels, bytes, of a palette


def sections() -> dict[str, str]:
    """The commands above each picture, in the page's order."""
    found: dict[str, str] = {}
    for section in PAGE.read_text(encoding="utf-8").split("\n## ")[1:]:
        picture = re.search(r"\]\(assets/gallery/([\w-]+\.png)\)", section)
        assert picture, section
        found[picture[1]] = "\n".join(line[4:] for line in section.splitlines() if line.startswith("    "))
    return found


def shrink(path: Path, to: Path) -> int:
    """A palette of as many colours as the size allows; its bytes."""
    picture = Image.open(path).convert("RGB")
    if picture.width > WIDEST:
        picture = picture.resize((WIDEST, round(picture.height * WIDEST / picture.width)), Image.Resampling.LANCZOS)
    for colours in COLOURS:
        picture.quantize(colours, dither=Image.Dither.NONE).save(to, optimize=True)
        if to.stat().st_size <= MOST:
            return to.stat().st_size
    raise SystemExit(f"{to.name} has {to.stat().st_size} bytes, {MOST} are allowed")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pictures", nargs="*", help="which, by file name; the commands of all before are run too")
    parser.add_argument("--into", type=Path, default=KEPT, help="Folder of the pictures. [default: the site's]")
    given = parser.parse_args()
    wanted, kept = given.pictures, given.into.resolve()
    found = sections()
    if unknown := set(wanted) - set(found):
        parser.error(f"no such picture: {', '.join(sorted(unknown))}; there are {', '.join(found)}")
    kept.mkdir(parents=True, exist_ok=True)
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "instances").symlink_to(ROOT / "instances")
        last = max(list(found).index(name) for name in wanted or found)
        for name, commands in list(found.items())[: last + 1]:
            subprocess.run(["bash", "-euc", commands], cwd=folder, env={**os.environ, "PATH": path}, check=True, stdout=2)
            if not wanted or name in wanted:
                print(f"{shrink(Path(folder) / name, kept / name):7,} bytes  {name}", flush=True)


if __name__ == "__main__":
    main()
