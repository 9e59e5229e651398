"""The Steiner tree problem in graphs, and SteinLib's files."""
