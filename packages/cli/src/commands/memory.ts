import type { Consolidated, Extraction, MemoryStore } from "@sessions/recall"
import { type Command, defineCommand, type Invocation } from "../command.ts"
import { confirmed } from "../confirm.ts"
import { CommandError, UsageError } from "../errors.ts"
import { commandAgent } from "../memory/agent.ts"
import { createOverlay } from "../memory/overlay.ts"
import { integerOption } from "../option-values.ts"
import { formatCount } from "../output/format.ts"
import { type Line, styled } from "../output/lines.ts"
import { sanitizeLine } from "../output/sanitize.ts"
import { absoluteFolder } from "../store/resolve.ts"
import { commandSummarizer } from "../summarizer.ts"

const OPTIONS = {
  cwd: {
    type: "string",
    value: "PATH",
    help: "scope of the memory: a folder (default: the session's, else the current one)",
  },
  folder: {
    type: "string",
    value: "DIR",
    help: "the memory is in the .md files of this folder (default: in the store)",
  },
  model: {
    type: "string",
    value: "COMMAND",
    help: "extract: shell command that reads the prompt and prints the answer",
  },
  agent: { type: "string", value: "COMMAND", help: "consolidate: shell command that reads and prints one JSON object" },
  timeout: { type: "string", value: "SECONDS", help: "extract: time limit of one run of the model (default 300)" },
  force: { type: "boolean", help: "consolidate, although it is not due" },
  "dry-run": { type: "boolean", help: "consolidate: run the agent, and only show what it would change" },
  all: { type: "boolean", help: "clear: delete all memory files, also those written by hand" },
  yes: { type: "boolean", help: "clear --all: do not ask" },
} as const

/** The options that only one action has. */
const OPTIONS_OF: Readonly<Record<string, readonly (keyof typeof OPTIONS)[]>> = {
  show: [],
  extract: ["model", "timeout"],
  consolidate: ["agent", "force", "dry-run"],
  clear: ["all", "yes"],
}

type MemoryInvocation = Invocation<typeof OPTIONS>
type MemoryResult = Awaited<ReturnType<Command["run"]>>

export const memory: Command = defineCommand({
  name: "memory",
  summary: "show, extract, consolidate or clear what agents remember across sessions",
  args: ["ACTION", "ID?"],
  options: OPTIONS,
  notes: [
    "ACTION is show, extract ID, consolidate or clear. The memory belongs to a folder, as its sessions do.",
    "extract asks the model about the messages since the last extraction. consolidate runs the agent four times, with one JSON object on its",
    "standard input: { phase, prompt, files: [{ name, text }], sessions: [{ id, title, at, text }] }. It prints one:",
    "{ write: [{ name, text }], delete: [names], notes }. A file that was changed meanwhile is not overwritten.",
    "clear removes the extracted facts; sessions that were read are not read again.",
    "clear --all asks first; without a terminal --yes is needed.",
  ],
  examples: [
    "memory show",
    'memory extract @last --model "llm -m gpt-4o"',
    "memory consolidate --agent ./tidy.sh --dry-run",
    "memory clear --all --yes --cwd /project",
  ],
  async run(invocation) {
    const { args, values } = invocation
    const [action = "", id] = args
    const own = Object.hasOwn(OPTIONS_OF, action) ? OPTIONS_OF[action] : undefined
    if (own === undefined)
      throw new UsageError(
        `unknown action ${JSON.stringify(action)} of memory: use ${Object.keys(OPTIONS_OF).join(", ")}.`,
      )
    if ((action === "extract") !== (id !== undefined)) {
      throw new UsageError(id === undefined ? "memory extract needs ID." : `memory ${action} takes no ID.`)
    }
    for (const [other, names] of Object.entries(OPTIONS_OF)) {
      const wrong = names.find((name) => values[name] !== undefined)
      if (other !== action && wrong !== undefined) throw new UsageError(`--${wrong} is an option of memory ${other}.`)
    }
    if (action === "extract") return extract(invocation, id as string)
    if (action === "consolidate") return consolidate(invocation)
    return action === "clear" ? clear(invocation) : show(invocation)
  },
})

async function show(invocation: MemoryInvocation): Promise<MemoryResult> {
  const { callOptions } = invocation
  const scope = scopeOf(invocation)
  const memoryFiles = (await storeOf(invocation)).of(scope)
  const files: { readonly name: string; readonly text: string }[] = []
  for (const name of await memoryFiles.list(callOptions)) {
    const file = await memoryFiles.read(name, callOptions)
    if (file !== undefined) files.push({ name, text: file.text })
  }
  return {
    json: { scope, files },
    text: () =>
      files.length === 0
        ? [`No memory of ${scope}.`]
        : files.flatMap(({ name, text }): Line[] => [styled("bold", name), ...text.trimEnd().split(/\r?\n/), ""]),
  }
}

async function extract(invocation: MemoryInvocation, ref: string): Promise<MemoryResult> {
  const { sessions, values, io, callOptions, resolveSession, progress } = invocation
  const command = commandOption("model", values.model, "the prompt and prints the answer, a JSON array of facts")
  const seconds = integerOption("timeout", values.timeout, 1)
  const { createRecall } = await import("@sessions/recall")
  const id = await resolveSession(ref)
  const session = await sessions.open(id, callOptions)
  try {
    const scope = scopeOf(invocation, (await session.info(callOptions)).cwd)
    const recall = createRecall({
      files: await storeOf(invocation),
      scope,
      ask: commandSummarizer(command, io),
      now: io.now,
      ...(seconds !== undefined && { timeout: seconds * 1_000 }),
    })
    progress.update(() => `extracting from ${id} with ${command}`)
    const done = await recall.extract(session, { ...callOptions, force: true })
    return { json: { id, scope, ...done }, text: () => extractLines(id, done) }
  } finally {
    await session.close()
  }
}

async function consolidate(invocation: MemoryInvocation): Promise<MemoryResult> {
  const { sessions, values, io, callOptions, progress } = invocation
  const command = commandOption("agent", values.agent, "one JSON object and prints one")
  const { createConsolidation } = await import("@sessions/recall")
  const scope = scopeOf(invocation)
  const store = await storeOf(invocation)
  const overlay = values["dry-run"] === true ? createOverlay(store) : undefined
  const run = commandAgent(command, io)
  const consolidation = createConsolidation({ sessions, files: overlay ?? store, scope, run, now: io.now })
  progress.update(() => `consolidating with ${command}`)
  const done = await consolidation.consolidate({ ...callOptions, force: values.force === true })
  const changes = [...(overlay?.changes ?? [])].map(([name, text]) => ({ name, text }))
  return {
    json: { scope, ...done, ...(overlay !== undefined && { changes }) },
    text: () => consolidateLines(done, changes, overlay !== undefined),
  }
}

async function clear(invocation: MemoryInvocation): Promise<MemoryResult> {
  const { values, callOptions, json, io } = invocation
  const { createRecall } = await import("@sessions/recall")
  const scope = scopeOf(invocation)
  if (values.all === true && values.yes !== true) {
    if (json || !io.stdout.isTerminal)
      throw new UsageError("memory clear --all asks before it deletes files: add --yes.")
    if (!(await confirmed(io, `Delete all memory files of ${sanitizeLine(scope)}, also those written by hand?`)))
      throw new CommandError("nothing was deleted.")
  }
  const recall = createRecall({ files: await storeOf(invocation), scope })
  const done = await recall.clear({ ...callOptions, all: values.all === true })
  const removed =
    values.all === true
      ? `deleted ${formatCount(done.files.length, "file")}`
      : `removed ${formatCount(done.facts, "fact")}`
  return { json: { scope, ...done }, text: () => [`${removed} of ${scope}`] }
}

function commandOption(name: "model" | "agent", command: string | undefined, does: string): string {
  if (command !== undefined && command.trim() !== "") return command
  const action = name === "model" ? "extract" : "consolidate"
  throw new UsageError(`memory ${action} needs --${name} "COMMAND", a shell command that reads ${does}.`)
}

function scopeOf({ values, io }: MemoryInvocation, ofSession?: string): string {
  return absoluteFolder(values.cwd ?? ofSession ?? io.cwd, io.cwd)
}

async function storeOf({ sessions, values, io }: MemoryInvocation): Promise<MemoryStore> {
  if (values.folder === undefined) {
    const { createDocumentMemory } = await import("@sessions/recall")
    return createDocumentMemory(sessions.storage)
  }
  const { createFolderMemory } = await import("@sessions/recall/node")
  return createFolderMemory(absoluteFolder(values.folder, io.cwd))
}

const WHY_NOT = {
  few_messages: "the session has too few messages",
  few_calls: "there were too few tool calls since the last extraction",
  pending_call: "a tool call has no result yet",
  running: "an extraction runs",
  stopped: "the extraction failed several times",
  nothing_new: "there are no messages since the last extraction",
  too_soon: "the last consolidation was less than 24 hours ago; --force does it now",
  few_sessions: "fewer than 5 sessions have new messages; --force does it now",
  locked: "another process is consolidating this memory",
} as const

function extractLines(id: string, { skipped, facts, known, dropped }: Extraction): Line[] {
  if (skipped !== undefined) return [`nothing extracted from ${id}: ${WHY_NOT[skipped]}`]
  return [
    ...facts.map(({ category, fact }): Line => [styled("green", category), ` ${fact}`]),
    ...dropped.map(({ reason, item }): Line => [styled("yellow", "dropped"), ` ${item} (${reason})`]),
    `${formatCount(facts.length, "fact")} from ${id}, ${known} known already`,
  ]
}

function consolidateLines(
  { skipped, sessions, written, deleted }: Consolidated,
  changes: readonly { readonly name: string; readonly text: string | null }[],
  isDry: boolean,
): Line[] {
  if (skipped !== undefined) return [`nothing done: ${WHY_NOT[skipped]}`]
  const texts = changes.flatMap(({ name, text }): Line[] =>
    text === null ? [] : [styled("bold", name), ...text.trimEnd().split(/\r?\n/), ""],
  )
  return [
    ...texts,
    ...written.map((name): Line => [styled("green", isDry ? "write" : "wrote"), ` ${name}`]),
    ...deleted.map((name): Line => [styled("red", isDry ? "delete" : "deleted"), ` ${name}`]),
    `${formatCount(sessions, "session")} reviewed`,
  ]
}
