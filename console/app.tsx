import { useSignal } from "@preact/signals";
import type { ComponentType } from "preact";
import { useEffect, useErrorBoundary } from "preact/hooks";
import { titled } from "./format";
import { connection, follow, latest } from "./live";
import { Copy, Name } from "./parts/basics";
import { Failed, Skeleton } from "./parts/load";
import { choose, place, project, to } from "./router";
import { readSession, signedIn, signOut } from "./session";

/** Each screen is loaded when it is first looked at. */
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

/** The whole page. */
export function App() {
  const now = signedIn.value;
  if (now.state === "asking") return <Skeleton lines={3} />;
  return now.state === "in" ? <Shell /> : <Outside {...now} />;
}

/** What anybody sees who is not signed in: how to get in, and nothing of the service. */
function Outside({ why }: { why?: string }) {
  return (
    <main class="outside">
      <img src="console/icon.svg" alt="" width="44" height="44" />
      <h1>Recommender console</h1>
      {why && (
        <p class="note warn" role="alert">
          {why}
        </p>
      )}
      <p>To look inside, run this where the service's stack or folder is:</p>
      <div class="command">
        <code>npx recommender open</code>
        <Copy text="npx recommender open" />
      </div>
      <p class="muted">
        It opens this page with a link that works once, for a minute. For the service of a stack, add{" "}
        <code>--stack NAME</code>; in a clone of pulumi-recommender run{" "}
        <code>npm run recommender -- open --stack local</code>. A session holds for one tab: another tab needs
        a link of its own.
      </p>
    </main>
  );
}

function Shell() {
  const now = signedIn.value;
  useEffect(follow, []);
  const { version } = latest.value ?? {};
  useEffect(() => {
    if (version !== undefined) void readSession().catch(() => undefined);
  }, [version]);
  const current = Object.hasOwn(screens, place.value.screen) ? place.value.screen : "overview";
  useEffect(() => {
    document.querySelector("nav [aria-current]")?.scrollIntoView({ block: "nearest", inline: "center" });
  }, [current]);
  if (now.state !== "in") return null;
  const { session } = now;
  const running = (latest.value?.counts.running ?? 0) + (latest.value?.counts.pending ?? 0);
  return (
    <div class="shell">
      <button type="button" class="skip" onClick={() => document.getElementById("main")?.focus()}>
        Skip to the content
      </button>
      <nav aria-label="Screens">
        <a class="brand" href={to("overview")} aria-label="Recommender">
          <img src="console/icon.svg" alt="" width="26" height="26" />
          <span>Recommender</span>
        </a>
        <ul>
          {Object.entries(screens).map(([name, { title }]) => (
            <li key={name}>
              <a href={to(name)} aria-current={name === current ? "page" : undefined}>
                {title}
                {name === "jobs" && running > 0 && (
                  <span class="count" title={`${running} under way`}>
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
            {session.access === "read" ? "Looking only" : "May change things"}, as <Name>{session.name}</Name>
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
  paused: "Paused while hidden",
  lost: "Connection lost, trying again",
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
  const now = signedIn.value;
  if (now.state !== "in" || now.session.projects.length < 2) return null;
  return (
    <label class="project">
      <span>Project</span>
      <select value={project.value?.id} onChange={(event) => choose(event.currentTarget.value)}>
        {now.session.projects.map(({ id, name, isDeployed }) => (
          <option key={id} value={id}>
            {name.slice(0, 60)}
            {isDeployed ? "" : " (does not serve)"}
          </option>
        ))}
      </select>
    </label>
  );
}

function CurrentScreen({ name }: { name: string }) {
  const loaded = useSignal<ComponentType | undefined>(undefined);
  const failed = useSignal(false);
  const [broken, again] = useErrorBoundary();
  useEffect(again, [place.value]);
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
        {titled(name)} cannot be loaded: the service does not answer, or another version runs by now. Load the
        page again.
      </p>
    );
  if (broken) return <Failed error={broken} again={again} />;
  return Screen ? <Screen /> : <Skeleton lines={6} />;
}
