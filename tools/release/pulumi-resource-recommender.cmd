@echo off
"%~dp0node.exe" "%~dp0dist\provider\plugin\main.js" %*
