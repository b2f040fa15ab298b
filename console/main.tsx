// The console: a web page that shows the state of a service. Its data comes from service/console.
// The page never has the API key.

import { render } from "preact";
import { App } from "./app";
import { signIn } from "./session";

render(<App />, document.getElementById("app") as HTMLElement);
void signIn();
