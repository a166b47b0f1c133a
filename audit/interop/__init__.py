"""Archives as other libraries take them."""
