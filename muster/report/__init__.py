"""What is shown of a run: results, verdict table, JUnit, Allure, failure stories."""
