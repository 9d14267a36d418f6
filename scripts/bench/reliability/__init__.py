"""The targets of the reliability bench, one file a group, and the stand-ins that they run against."""
