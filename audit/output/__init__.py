"""The output room: tables as text, CSV, Parquet and money."""
