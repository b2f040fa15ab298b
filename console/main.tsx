// The console: a page that looks at a service. What it shows comes from service/console; it holds no key.

import { render } from "preact";
import { App } from "./app";
import { signIn } from "./session";

render(<App />, document.getElementById("app") as HTMLElement);
void signIn();
