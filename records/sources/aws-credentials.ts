import { readFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";

/** Key of an AWS account, and the region and endpoint that belong to it. */
export interface AwsAccess {
  /** The access key. Undefined if the environment contains none. Public buckets need none. */
  readonly key?: {
    readonly accessKeyId: string;
    readonly secretAccessKey: string;
    readonly sessionToken?: string;
  };
  /** Where the key comes from, for messages. */
  readonly origin: string;
  readonly region?: string | undefined;
  /** Address of a storage that is compatible with S3. */
  readonly endpoint?: string | undefined;
}

type Section = Readonly<Record<string, string>>;

/**
 * Reads credentials and region as the AWS tools do: first the variables AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY,
 * then the profile AWS_PROFILE, by default `default`, in the files `~/.aws/credentials` and `~/.aws/config`.
 */
export async function awsAccess(env: NodeJS.ProcessEnv = process.env): Promise<AwsAccess> {
  const profile = env.AWS_PROFILE || "default";
  const section = await profileSection(profile, env);
  const region = env.AWS_REGION || env.AWS_DEFAULT_REGION || section.region;
  const endpoint = env.AWS_ENDPOINT_URL_S3 || env.AWS_ENDPOINT_URL || section.endpoint_url;
  const place = { region, endpoint };
  const { AWS_ACCESS_KEY_ID: id, AWS_SECRET_ACCESS_KEY: secret } = env;
  if (id && secret)
    return { ...place, key: keyOf(id, secret, env.AWS_SESSION_TOKEN), origin: "AWS_ACCESS_KEY_ID" };
  const { aws_access_key_id, aws_secret_access_key, aws_session_token } = section;
  if (aws_access_key_id && aws_secret_access_key) {
    const key = keyOf(aws_access_key_id, aws_secret_access_key, aws_session_token);
    return { ...place, key, origin: `the profile ${profile}` };
  }
  const other = Object.keys(section).find((name) => /^(role_arn|sso_|credential_process|login_)/.test(name));
  if (other)
    throw new Error(
      `the profile ${profile} uses ${other}, which only the AWS CLI can read; first run ` +
        `\`eval "$(aws configure export-credentials --profile ${profile} --format env)"\``,
    );
  if (env.AWS_PROFILE)
    throw new Error(
      `the profile ${profile} of AWS_PROFILE has no credentials; add them to ~/.aws/credentials`,
    );
  return { ...place, origin: "the environment" };
}

function keyOf(accessKeyId: string, secretAccessKey: string, sessionToken: string | undefined) {
  return { accessKeyId, secretAccessKey, ...(sessionToken && { sessionToken }) };
}

async function profileSection(profile: string, env: NodeJS.ProcessEnv): Promise<Section> {
  const directory = join(homedir(), ".aws");
  const config = await sections(env.AWS_CONFIG_FILE || join(directory, "config"));
  const credentials = await sections(env.AWS_SHARED_CREDENTIALS_FILE || join(directory, "credentials"));
  return {
    ...config.get(profile === "default" ? profile : `profile ${profile}`),
    ...credentials.get(profile),
  };
}

/** Reads an INI file. Indented lines belong to nested settings, which are not needed here. */
async function sections(path: string): Promise<ReadonlyMap<string, Section>> {
  const found = new Map<string, Record<string, string>>();
  let current: Record<string, string> = {};
  for (const line of (await readFile(path, "utf8").catch(() => "")).split(/\r?\n/)) {
    const [, name] = /^\[\s*([^\]]+?)\s*\]/.exec(line) ?? [];
    const [, key, value] = /^(\w+)\s*=\s*(.*?)\s*$/.exec(line) ?? [];
    if (name !== undefined) {
      current = found.get(name) ?? {};
      found.set(name, current);
    } else if (key !== undefined && value !== undefined) current[key] = value;
  }
  return found;
}
