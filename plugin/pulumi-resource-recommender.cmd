@echo off
set "package=%~dp0.."
if not exist "%package%\dist\provider\plugin\main.js" set "package=%CD%\node_modules\pulumi-recommender"
node "%package%\dist\provider\plugin\main.js" %*
