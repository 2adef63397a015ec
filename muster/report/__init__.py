"""Reports of a run: results, verdict table, failure reports, JUnit, Allure, GitHub, ConformanceReport, matrix."""
