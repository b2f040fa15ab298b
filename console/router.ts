import { computed, signal } from "@preact/signals";
import { signInState } from "./session";

/** The current screen and its parameters, from the URL's fragment, as in `#/jobs/ID?type=TRAINING`. */
export interface Route {
  readonly screen: string;
  readonly rest: readonly string[];
  readonly query: URLSearchParams;
}

const hash = signal(location.hash);
addEventListener("hashchange", () => {
  hash.value = location.hash;
});

export const route = computed<Route>(() => {
  const [path = "", query = ""] = hash.value.replace(/^#\/?/, "").split("?");
  const [screen = "", ...rest] = path.split("/").map(decoded);
  return { screen: screen || "overview", rest, query: new URLSearchParams(query) };
});

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Returns the link to a screen. */
export function hrefTo(
  screen: string,
  rest: readonly string[] = [],
  query: Record<string, string> = {},
): string {
  const text = new URLSearchParams(query).toString();
  return `#/${[screen, ...rest].map(encodeURIComponent).join("/")}${text && `?${text}`}`;
}

/** Opens a link from {@link hrefTo}. */
export function navigate(address: string): void {
  location.hash = address;
}

const chosen = signal(sessionStorage.getItem("recommender-console-project"));

/** The project that the screens show: the selected one, else the newest deployed one, else the newest one. */
export const selectedProject = computed(() => {
  const now = signInState.value;
  const projects = now.state === "in" ? now.session.projects : [];
  return (
    projects.find(({ id }) => id === chosen.value) ??
    projects.find(({ isDeployed }) => isDeployed) ??
    projects[0]
  );
});

const orphansKey = "recommender-console-orphans";

/** Whether this tab shows orphaned objects. */
export const orphansShown = signal(sessionStorage.getItem(orphansKey) === "shown");

/** Shows or hides orphaned objects. */
export function showOrphans(isOn: boolean): void {
  orphansShown.value = isOn;
  if (isOn) sessionStorage.setItem(orphansKey, "shown");
  else sessionStorage.removeItem(orphansKey);
}

/** Selects the project that the screens show. */
export function selectProject(id: string): void {
  chosen.value = id;
  sessionStorage.setItem("recommender-console-project", id);
}
