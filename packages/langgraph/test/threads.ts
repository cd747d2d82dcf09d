/** Checkpoints for tests: a thread whose channel `messages` holds the last messages. */
import { type CheckpointTuple, emptyCheckpoint, uuid6 } from "@langchain/langgraph-checkpoint"
import type { SessionsSaver } from "@sessions/langgraph"

export type Config = CheckpointTuple["config"]
export type Values = Record<string, unknown>

export const META = { source: "loop", step: 0, parents: {} } as const

let steps = 0

/** The config that names no checkpoint yet. */
export function startOf(thread: string, ns = ""): Config {
  return { configurable: { thread_id: thread, checkpoint_ns: ns } }
}

/** Puts a checkpoint with these values, of which `changed` (default: all) are new at the version. Returns its config. */
export async function put(
  saver: SessionsSaver,
  parent: Config,
  values: Values,
  { version = 1, changed = Object.keys(values), id = uuid6(steps++) } = {},
): Promise<Config> {
  const versions = Object.fromEntries(Object.keys(values).map((name) => [name, version]))
  const checkpoint = { ...emptyCheckpoint(), id, channel_values: values, channel_versions: versions }
  const newVersions = Object.fromEntries(changed.map((name) => [name, version]))
  return saver.put(parent, checkpoint, META, newVersions)
}

export async function valuesOf(saver: SessionsSaver, config: Config): Promise<Values | undefined> {
  return (await saver.getTuple(config))?.checkpoint.channel_values
}

export async function listed(saver: SessionsSaver, config: Config): Promise<CheckpointTuple[]> {
  const tuples: CheckpointTuple[] = []
  for await (const tuple of saver.list(config)) tuples.push(tuple)
  return tuples
}

const messages: { readonly role: string; readonly content: string }[] = []

/** About 1 KB of text that no other message has. */
function message(n: number): (typeof messages)[number] {
  return (messages[n] ??= { role: n % 2 === 0 ? "user" : "assistant", content: wordsOf(n) })
}

function wordsOf(n: number): string {
  let words = `message ${n}:`
  for (let word = 0; words.length < 1_000; word++) words += ` ${((n + 1) * 7919 * (word + 13)).toString(36)}`
  return words
}

/** The last 100 messages up to the nth. */
export function lastMessages(n: number): typeof messages {
  return Array.from({ length: Math.min(100, n + 1) }, (_, at) => message(Math.max(0, n - 99) + at))
}
