"""Studies: their files, their runs on Spark, and the folder that keeps what they found."""
