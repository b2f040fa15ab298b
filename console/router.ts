import { computed, signal } from "@preact/signals";
import { signedIn } from "./session";

/** Where the page is: `#/jobs/ID?type=TRAINING`. */
export interface Place {
  readonly screen: string;
  readonly rest: readonly string[];
  readonly query: URLSearchParams;
}

const hash = signal(location.hash);
addEventListener("hashchange", () => {
  hash.value = location.hash;
});

export const place = computed<Place>(() => {
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

/** The address of a screen. */
export function to(screen: string, rest: readonly string[] = [], query: Record<string, string> = {}): string {
  const text = new URLSearchParams(query).toString();
  return `#/${[screen, ...rest].map(encodeURIComponent).join("/")}${text && `?${text}`}`;
}

/** Goes somewhere. */
export function go(address: string): void {
  location.hash = address;
}

const chosen = signal(sessionStorage.getItem("recommender-console-project"));

/** The project that the screens are about: the chosen one, or the newest that serves. */
export const project = computed(() => {
  const now = signedIn.value;
  const projects = now.state === "in" ? now.session.projects : [];
  return (
    projects.find(({ id }) => id === chosen.value) ??
    projects.find(({ isDeployed }) => isDeployed) ??
    projects[0]
  );
});

const orphansKey = "recommender-console-orphans";

/** Whether orphaned objects are shown, in this tab. */
export const orphansShown = signal(sessionStorage.getItem(orphansKey) === "shown");

/** Shows orphaned objects, or hides them. */
export function showOrphans(isOn: boolean): void {
  orphansShown.value = isOn;
  if (isOn) sessionStorage.setItem(orphansKey, "shown");
  else sessionStorage.removeItem(orphansKey);
}

/** Chooses the project that the screens are about. */
export function choose(id: string): void {
  chosen.value = id;
  sessionStorage.setItem("recommender-console-project", id);
}
