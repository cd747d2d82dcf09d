import type { StoredPrompt } from "@sessions/history"
import { type Command, type CommandResult, defineCommand, type Invocation } from "../command.ts"
import { confirmed } from "../confirm.ts"
import { CommandError, UsageError } from "../errors.ts"
import { historyFileOf, withHistory } from "../history-file.ts"
import { ageOption, integerOption } from "../option-values.ts"
import { fit, formatAge, formatCount, table } from "../output/format.ts"
import { type Line, styled, type View } from "../output/lines.ts"
import { preview } from "../output/messages.ts"
import { sanitizeLine } from "../output/sanitize.ts"
import { absoluteFolder } from "../store/resolve.ts"
import { typedPrompts } from "../store/typed-prompts.ts"

const OPTIONS = {
  cwd: { type: "string", value: "PATH", help: "only prompts of this folder (. is the current one)" },
  limit: { type: "string", value: "N", help: "how many, 1 to 1000 (default 50)" },
  file: { type: "string", value: "PATH", help: "a history file (default: the sessions, or history.db beside them)" },
  "older-than": { type: "string", value: "AGE", help: "clear: only prompts older than this, such as 12h, 30d or 8w" },
  yes: { type: "boolean", help: "clear: do not ask" },
} as const

export const history: Command = defineCommand({
  name: "history",
  summary: "list what people typed in all sessions, newest first, or find words in it",
  args: ["WORDS...?"],
  options: OPTIONS,
  notes: [
    "With WORDS, lists the prompts in which each word begins some word; case and accents do not count. Prompts are those of the sessions; with",
    "--file, and of a store without sessions, those of a history file, which programs write with @sessions/history. The default file is in the",
    "folder of a file store, or beside the file of a SQLite store; it may be a history.db of oh-my-pi.",
    "`sessions history clear` deletes prompts of the file for good. It asks first; without a terminal --yes is needed. To find the word clear,",
    'write "clear.".',
  ],
  // A history file is used without the store.
  createsStore: () => true,
  examples: ["history", "history fix test --cwd . --limit 5", "history clear --older-than 30d", "history --json"],
  async run(invocation) {
    const { args, values, store, io } = invocation
    const clears = args.length === 1 && args[0] === "clear"
    for (const name of clears ? (["cwd", "limit"] as const) : (["older-than", "yes"] as const)) {
      if (values[name] !== undefined)
        throw new UsageError(`--${name} is for "sessions history${clears ? "" : " clear"}" only.`)
    }
    if (clears) return clear(historyFileOf(store, io, values.file), invocation)
    const found = values.file === undefined ? await listTyped(invocation) : undefined
    return found ?? list(historyFileOf(store, io, values.file), invocation)
  },
})

/** Undefined if the store has no session. */
async function listTyped({
  sessions,
  args,
  values,
  io,
  callOptions,
  progress,
}: Invocation<typeof OPTIONS>): Promise<CommandResult | undefined> {
  const limit = integerOption("limit", values.limit, 1, 1000) ?? 50
  const prompts = await typedPrompts(sessions, {
    ...callOptions,
    words: args.join(" "),
    limit,
    ...(values.cwd === undefined ? {} : { cwd: absoluteFolder(values.cwd, io.cwd) }),
    onProgress: (read) => progress.update(() => `reading session ${read}`),
  })
  if (prompts === undefined) return undefined
  const none = `No such prompt in the sessions of ${sessions.storage.description}.`
  return { json: { prompts }, text: (view) => (prompts.length === 0 ? [none] : promptLines(prompts, view)) }
}

async function list(file: string, { args, values, io }: Invocation<typeof OPTIONS>): Promise<CommandResult> {
  const limit = integerOption("limit", values.limit, 1, 1000) ?? 50
  const o = { limit, ...(values.cwd === undefined ? {} : { cwd: absoluteFolder(values.cwd, io.cwd) }) }
  const prompts = await withHistory(file, (opened) => opened.search(args.join(" "), o))
  return {
    json: { file, prompts },
    text: (view) => (prompts.length === 0 ? [`No such prompt in ${file}.`] : promptLines(prompts, view)),
  }
}

async function clear(file: string, { values, json, io }: Invocation<typeof OPTIONS>): Promise<CommandResult> {
  const age = ageOption("older-than", values["older-than"])
  if (values.yes !== true) {
    if (json || !io.stdout.isTerminal) throw new UsageError("history clear asks before it deletes prompts: add --yes.")
    const which = age === undefined ? "all prompts" : `the prompts older than ${values["older-than"] as string}`
    if (!(await confirmed(io, `Delete ${which} of ${sanitizeLine(file)}?`)))
      throw new CommandError("nothing was deleted.")
  }
  const o = age === undefined ? {} : { olderThan: new Date(io.now() - age) }
  const deleted = await withHistory(file, (opened) => opened.clear(o))
  return { json: { file, deleted }, text: () => [`deleted ${formatCount(deleted, "prompt")} of ${file}`] }
}

const PREVIEW_UNITS = 200

function promptLines(prompts: readonly Pick<StoredPrompt, "at" | "cwd" | "prompt">[], view: View): Line[] {
  const heading = ["AGE", "FOLDER", "PROMPT"].map((name) => styled("dim", name))
  const cells = prompts.map(({ at, cwd, prompt }) => [
    formatAge(at, view.now),
    cwd ?? "-",
    preview(prompt, PREVIEW_UNITS),
  ])
  return table([heading, ...cells], ["right", "left", "left"]).map((line) => fit(line, view.columns))
}
