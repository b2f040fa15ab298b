@echo off
rem The engine starts the provider plugin by this name, from the npm package or from its own plugin directory. In the
rem plugin directory, this script runs the package that the program installed; a program without one, such as a Python
rem project, gets the package that `recommender plugin install` ran from.
setlocal
set "main=dist\provider\plugin\main.js"
set "package=%~dp0.."
set "directory=%CD%"
:look
if exist "%package%\%main%" goto run
set "package=%directory%\node_modules\pulumi-recommender"
if exist "%package%\%main%" goto run
rem The examples are inside a clone of the package itself.
set "package=%directory%"
if exist "%package%\%main%" goto run
for %%A in ("%directory%\..") do set "above=%%~fA"
if "%above%"=="%directory%" goto installed
set "directory=%above%"
goto look
:installed
set "package="
if exist "%~dp0installed-from" set /p package=<"%~dp0installed-from"
if exist "%package%\%main%" goto run
echo pulumi-resource-recommender: found no package pulumi-recommender in %CD% or its parents, nor in "%package%". Run `npm install pulumi-recommender` in one of them, then `npx recommender plugin install`. 1>&2
exit /b 1
:run
node "%package%\%main%" %*
