import { useSignal } from "@preact/signals";
import type { ComponentType } from "preact";
import { useEffect, useErrorBoundary } from "preact/hooks";
import { capitalize } from "./format";
import { connection, liveStatus, startLiveUpdates } from "./live";
import { Copy, Name } from "./parts/basics";
import { Failed, Skeleton } from "./parts/load";
import { hrefTo, route, selectedProject, selectProject } from "./router";
import { readSession, signInState, signOut } from "./session";

/** The screens in the order of the menu. Each one is loaded when it is first opened. */
const screens: Readonly<Record<string, { title: string; load: () => Promise<{ Screen: ComponentType }> }>> = {
  overview: { title: "Overview", load: () => import("./screens/overview") },
  try: { title: "Try it", load: () => import("./screens/try/try") },
  jobs: { title: "Jobs", load: () => import("./screens/jobs/jobs") },
  models: { title: "Models", load: () => import("./screens/models") },
  serving: { title: "Serving", load: () => import("./screens/serving") },
  questions: { title: "Questions", load: () => import("./screens/questions/questions") },
  datasets: { title: "Datasets", load: () => import("./screens/datasets/datasets") },
  api: { title: "API", load: () => import("./screens/api") },
};

/** The whole page: the screens if somebody is signed in, otherwise how to sign in. */
export function App() {
  const now = signInState.value;
  if (now.state === "loading") return <Skeleton lines={3} />;
  return now.state === "in" ? <Shell /> : <SignInPage {...now} />;
}

/** Shown to visitors who are not signed in. It reveals nothing about the service. */
function SignInPage({ reason }: { reason?: string }) {
  return (
    <main class="outside">
      <img src="console/icon.svg" alt="" width="44" height="44" />
      <h1>Recommender console</h1>
      {reason && (
        <p class="note warn" role="alert">
          {reason}
        </p>
      )}
      <p>To sign in, run this in the directory of your Pulumi project or of the service:</p>
      <div class="command">
        <code>npx recommender open</code>
        <Copy text="npx recommender open" />
      </div>
      <p class="muted">
        It opens this page with a link that works once, within a minute. For the service of a stack, add{" "}
        <code>--stack NAME</code>. In a clone of pulumi-recommender, run{" "}
        <code>npm run recommender -- open --stack local</code>. A session is valid in one tab only. Run the
        command again for another tab.
      </p>
    </main>
  );
}

function Shell() {
  const now = signInState.value;
  useEffect(startLiveUpdates, []);
  const { version } = liveStatus.value ?? {};
  useEffect(() => {
    if (version !== undefined) void readSession().catch(() => undefined);
  }, [version]);
  const current = Object.hasOwn(screens, route.value.screen) ? route.value.screen : "overview";
  useEffect(() => {
    document.querySelector("nav [aria-current]")?.scrollIntoView({ block: "nearest", inline: "center" });
  }, [current]);
  if (now.state !== "in") return null;
  const { session } = now;
  const running = (liveStatus.value?.counts.running ?? 0) + (liveStatus.value?.counts.pending ?? 0);
  return (
    <div class="shell">
      <button type="button" class="skip" onClick={() => document.getElementById("main")?.focus()}>
        Skip to content
      </button>
      <nav aria-label="Screens">
        <a class="brand" href={hrefTo("overview")} aria-label="Recommender">
          <img src="console/icon.svg" alt="" width="26" height="26" />
          <span>Recommender</span>
        </a>
        <ul>
          {Object.entries(screens).map(([name, { title }]) => (
            <li key={name}>
              <a href={hrefTo(name)} aria-current={name === current ? "page" : undefined}>
                {title}
                {name === "jobs" && running > 0 && (
                  <span class="count" title={`${running} running or pending`}>
                    {running}
                  </span>
                )}
              </a>
            </li>
          ))}
          <li class="narrow">
            <SignOut />
          </li>
        </ul>
        <footer>
          <Connection />
          <span class="muted" title={session.service.place}>
            {session.access === "read" ? "Read-only" : "Read and write"} · signed in as{" "}
            <Name>{session.name}</Name>
          </span>
          <SignOut />
        </footer>
      </nav>
      <main id="main" tabIndex={-1}>
        <ProjectChooser />
        <CurrentScreen key={current} name={current} />
      </main>
    </div>
  );
}

function SignOut() {
  return (
    <button type="button" class="quiet" onClick={() => void signOut()}>
      Sign out
    </button>
  );
}

const connections = {
  live: "Live",
  connecting: "Connecting",
  paused: "Paused: tab hidden",
  lost: "Connection lost. Retrying…",
};

function Connection() {
  return (
    <span class={`connection ${connection.value}`} role="status">
      <i aria-hidden="true" />
      {connections[connection.value]}
    </span>
  );
}

function ProjectChooser() {
  const now = signInState.value;
  if (now.state !== "in" || now.session.projects.length < 2) return null;
  return (
    <label class="project">
      <span>Project</span>
      <select
        value={selectedProject.value?.id}
        onChange={(event) => selectProject(event.currentTarget.value)}
      >
        {now.session.projects.map(({ id, name, isDeployed }) => (
          <option key={id} value={id}>
            {name.slice(0, 60)}
            {isDeployed ? "" : " (not deployed)"}
          </option>
        ))}
      </select>
    </label>
  );
}

function CurrentScreen({ name }: { name: string }) {
  const loaded = useSignal<ComponentType | undefined>(undefined);
  const failed = useSignal(false);
  const [error, reset] = useErrorBoundary();
  useEffect(reset, [route.value]);
  useEffect(() => {
    const { title, load } = screens[name] as (typeof screens)[string];
    document.title = `${title} · Recommender`;
    load().then(
      ({ Screen }) => {
        loaded.value = Screen;
      },
      () => {
        failed.value = true;
      },
    );
  }, [name, loaded, failed]);
  const Screen = loaded.value;
  if (failed.value)
    return (
      <p class="note bad" role="alert">
        Cannot load {capitalize(name)}: the service does not respond, or it was updated. Reload the page.
      </p>
    );
  if (error) return <Failed error={error} retry={reset} />;
  return Screen ? <Screen /> : <Skeleton lines={6} />;
}
