"""Studies: their files, their runs on Spark, and the folder of their results."""
