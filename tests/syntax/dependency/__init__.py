"""Dependency trees over scores, against enumeration."""
