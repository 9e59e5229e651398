"""Floor 4: studies, Spark, results, reports and the command line."""
