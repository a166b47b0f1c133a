"""Tables as text, CSV, Parquet and money."""
