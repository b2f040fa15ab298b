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
rem The examples lie in a clone of the package itself.
set "package=%folder%"
if exist "%package%\%main%" goto run
for %%A in ("%folder%\..") do set "above=%%~fA"
if "%above%"=="%folder%" goto missing
set "folder=%above%"
goto look
:missing
echo pulumi-resource-recommender: no package pulumi-recommender in %CD% or above: install it with npm, or build it with `npm run build` in a clone 1>&2
exit /b 1
:run
node "%package%\%main%" %*
