@echo off
rem The engine starts the provider plugin by this name. It lies in the npm package, or in the engine's folder of plugins;
rem there it finds the package that the program uses.
setlocal
set "main=dist\provider\plugin\main.js"
set "package=%~dp0.."
set "folder=%CD%"
:look
if exist "%package%\%main%" goto run
set "package=%folder%\node_modules\pulumi-recommender"
if exist "%package%\%main%" goto run
for %%A in ("%folder%\..") do set "above=%%~fA"
if "%above%"=="%folder%" goto missing
set "folder=%above%"
goto look
:missing
echo pulumi-resource-recommender: no package pulumi-recommender in %CD% or above: npm install pulumi-recommender 1>&2
exit /b 1
:run
node "%package%\%main%" %*
