"""The benchmark library: named instances made by recipes, with the best values and bounds that anybody has."""
