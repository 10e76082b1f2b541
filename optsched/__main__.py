"""`python -m optsched`."""

from optsched.cli import main

if __name__ == "__main__":
    main()
