import { type Diagnostic, hasCode, SessionError, type Sessions } from "@sessions/core"
import { hasNoMessage, type ImportedFile } from "@sessions/formats"
import { stat } from "node:fs/promises"
import { basename, join, resolve } from "node:path"
import { filesBelow } from "../agents/files-below.ts"
import { describe } from "../agents/session-files.ts"
import type { FoundSession } from "../agents/agent.ts"
import { isDatabase, sessionsOfDatabase } from "../agents/opencode.ts"
import { AGENTS, systemOf } from "../agents/table.ts"
import { choiceOption, sizeOption } from "../option-values.ts"
import { blobFolderOf, readBlobs } from "../files/blob-folder.ts"
import { besideFile } from "../files/beside.ts"
import { IMPORT_FORMATS, importOne } from "../files/import-one.ts"
import { type Command, type CommandResult, defineCommand, type Invocation } from "../command.ts"
import { CommandError, UsageError, withDetails } from "../errors.ts"
import { diagnosticLines } from "../output/diagnostics.ts"
import { firstPartOf } from "../files/parts.ts"
import { openFile } from "../files/read-write.ts"
import { lossLines } from "../files/write-as.ts"
import { formatBytes, formatCount, formatNumber } from "../output/format.ts"
import { type Line, styled, writeLines } from "../output/lines.ts"
import { preview, titleText, TITLE_UNITS } from "../output/messages.ts"
import { agentIdOf } from "../store/agent-ids.ts"
import { absoluteFolder, newId } from "../store/resolve.ts"

const OPTIONS = {
  from: {
    type: "string",
    value: "FORMAT",
    choices: IMPORT_FORMATS,
    help: `format of the file: ${IMPORT_FORMATS.join(", ")} (default auto)`,
  },
  id: {
    type: "string",
    value: "ID",
    help: "id of the new session (default: generated, or from the id in an agent's file)",
  },
  all: { type: "boolean", help: "every session of the agent of --from on this machine" },
  cwd: { type: "string", value: "PATH", help: "with --all: only sessions of this folder" },
  "max-size": { type: "string", value: "SIZE", help: "largest session that is written, such as 2GB (default 200MB)" },
  "any-blobs": { type: "boolean", help: "accept references to any blob of the store; only for files that you trust" },
} as const

export const importCommand: Command = defineCommand({
  name: "import",
  summary: "create a session from a session file, also of another agent, and print its id",
  args: ["FILE...?"],
  options: OPTIONS,
  notes: [
    "FILE may be a folder: every session file in it is imported. Use - to read standard input. With several files, one that cannot be",
    "imported does not stop the others. opencode.db imports every session of a database of opencode.",
    "The format is found by content. Sessions of subagents beside an agent's file are imported with it, and so are further parts",
    "(FILE_part2.jsonl). A session of an agent that was imported before gets what its file has beyond it, so a repeated or interrupted",
    "import can be run again. Several files of one session are one session.",
    "Blobs in FILE.blobs/, where export puts them, are imported too. References to other blobs are removed, because these may be the",
    "content of other sessions.",
    "Problems in the file are printed to standard error, the id alone to standard output.",
  ],
  examples: [
    "import ~/.pi/agent/sessions/--project--/2026-01-05.jsonl",
    "import ~/.claude/projects/-project/7e0a1246-d538-5993-8d6f-3495aafcdd92.jsonl",
    "import --from claude-code --all --cwd .",
    "import first.jsonl second.jsonl chats/",
    "import ~/.local/share/opencode/opencode.db",
    "import backup.jsonl --id 01JGN3V6Z4W3A5T1C8Y2K7M9QX",
    "import - --from pi < session.jsonl",
  ],
  createsStore: () => true,
  maxSessionBytes: (values) => sizeOption("max-size", values["max-size"]),
  async run(invocation) {
    const { args, values, io } = invocation
    const from = choiceOption("from", values.from, IMPORT_FORMATS, "auto")
    const [file, ...more] = args
    if (values.all === true) return await importAll(invocation, from)
    if (values.cwd !== undefined) throw new UsageError("--cwd goes with --all.")
    if (file === undefined) throw new UsageError("import needs a FILE, or --from FORMAT --all.")
    if (more.length > 0) return await importSeveral(invocation, args, from)
    if (file !== "-" && (await isFolder(resolve(io.cwd, file)))) return await importFolder(invocation, file, from)
    const database = await sessionsInDatabase(file, io.cwd)
    if (database !== undefined) return await importDatabase(invocation, database, from)
    return await importGiven(invocation, file, from).catch((error: unknown) => {
      throw withAdvice(error)
    })
  },
})

type Import = Invocation<typeof OPTIONS>

/** The file or the standard input that was given, with the blobs beside it and the sessions of its subagents. */
async function importGiven(invocation: Import, file: string, from: string): Promise<CommandResult> {
  const { sessions, values, io, json, progress } = invocation
  const id = newId(values.id)
  const source = file === "-" ? io.stdin : await openFile(file, io.cwd)
  const interruptible = typeof source === "function" ? source : untilAborted(source, io.signal)
  const came = file === "-" ? [] : await readBlobs(sessions.storage, blobFolderOf(file), io.cwd)
  const path = resolve(io.cwd, file)
  const first = file === "-" ? undefined : await firstPartOf(path)
  if (first !== undefined) throw new CommandError(`${file} continues the session of ${first}; import that file.`)
  const result = await importOne(sessions, interruptible, from, {
    ...id,
    ...(file === "-" ? {} : { beside: besideFile(path) }),
    blobs: values["any-blobs"] === true ? "any" : came,
    ...progressOf(invocation, ""),
  })
  const subagents = file === "-" || values.id !== undefined ? [] : await importSubagents(invocation, path, result)
  await progress.clear()
  if (!json) {
    await writeLines(
      io.stderr,
      [...(await notesOf(sessions, result)), ...lossLines(result.losses), ...subagentLines(subagents)],
      io.env,
    )
    await writeLines(io.stderr, diagnosticLines(result.diagnostics, MAX_DIAGNOSTICS), io.env)
  }
  return { json: { ...result, ...(subagents.length === 0 ? {} : { subagents }) }, text: () => [result.id] }
}

/** Names the option of the command: the error names the option of the library. */
function withAdvice<E>(error: E): E {
  return error instanceof SessionError && isOverLimit(error) ? withDetails(error, [TOO_LARGE_ADVICE]) : error
}

/** A line that is too large has the same code, and no option that helps. */
function isOverLimit({ code, message }: Failed["error"]): boolean {
  return code === "too_large" && message.includes("maxSessionBytes")
}

const TOO_LARGE_ADVICE =
  "On the command line: run the import again with a larger --max-size, for example --max-size 2GB."

/** Says the format of an agent's file, the agent's id and the title of the session, and whether it was there already. */
async function notesOf(sessions: Sessions, { id, from, added, title }: ImportedFile): Promise<Line[]> {
  const agentId = await agentIdOf(sessions, id)
  if (agentId === undefined && !isOfAgent(from.format) && added) return []
  const named = title === undefined ? titleText(await sessions.info(id)) : preview(title, TITLE_UNITS)
  const parts = [`format: ${from.format}`, agentId, named].filter((part) => part !== undefined)
  return [styled("dim", `${parts.join("  ")}${added ? "" : "; imported before, nothing was written"}`)]
}

function isOfAgent(format: string): boolean {
  return AGENTS.some((agent) => agent.format.format === format)
}

function subagentLines(subagents: readonly Done[]): Line[] {
  const failed = subagents.flatMap((done) => ("error" in done ? [failedLine(done)] : []))
  const count = subagents.length - failed.length
  return count === 0 ? failed : [styled("dim", `with ${formatCount(count, "session")} of subagents`), ...failed]
}

type SourceFile = Pick<FoundSession, "file" | "read">

type Done = Imported | Failed | Skipped

/** A session without a message yet. */
interface Skipped {
  readonly file: string
  readonly skipped: string
}

interface Imported extends ImportedFile {
  readonly file: string
}

interface Failed {
  readonly file: string
  readonly error: { readonly code?: string; readonly message: string; readonly details?: readonly string[] }
}

/** Every session of one agent on this machine. */
async function importAll(invocation: Import, from: string): Promise<CommandResult> {
  const { args, values, io } = invocation
  if (args.length > 0 || values.id !== undefined) throw new UsageError("--all takes neither a FILE nor --id.")
  const agent = AGENTS.find(({ format }) => format.format === from)
  if (agent === undefined) {
    throw new UsageError(`--all needs --from with one of ${AGENTS.map(({ format }) => format.format).join(", ")}.`)
  }
  const cwd = values.cwd === undefined ? undefined : absoluteFolder(values.cwd, io.cwd)
  const wanted: FoundSession[] = []
  for (const found of await agent.sessions(systemOf(io))) {
    // An agent that was ended at once leaves an empty file.
    if (found.bytes === 0 && found.read === undefined) continue
    // The import of a file that cannot be read says why.
    const isWanted = cwd === undefined || (await describe(agent.format, found).catch(() => ({ cwd })))?.cwd === cwd
    if (isWanted) wanted.push(found)
  }
  return await importFiles(invocation, wanted, from, () => true, true)
}

/** Several files and folders, one after the other. */
async function importSeveral(invocation: Import, files: readonly string[], from: string): Promise<CommandResult> {
  const { values, io } = invocation
  if (values.id !== undefined) throw new UsageError("--id is for one file.")
  if (files.includes("-")) throw new UsageError("- is standard input, and cannot be imported together with files.")
  const sources: SourceFile[] = []
  const inFolders = new Set<string>()
  for (const file of files) {
    const path = resolve(io.cwd, file)
    if (await isFolder(path)) {
      const found = await filesInFolder(file, io.cwd)
      for (const source of found) inFolders.add(source.file)
      sources.push(...found)
    } else {
      // An error of one file does not stop the others.
      const failing = (error: unknown): SourceFile[] => [{ file: path, read: () => failed(error) }]
      const found = await sessionsInDatabase(file, io.cwd).catch(failing)
      sources.push(...(found ?? [{ file: (await firstPartOf(path).catch(() => undefined)) ?? path }]))
    }
  }
  const isShown = (done: Done): boolean => !isOtherFile(done) || !inFolders.has(done.file)
  const unique = [...new Map(sources.map((source) => [source.file, source])).values()]
  return await importFiles(invocation, unique, from, isShown)
}

function failed(error: unknown): never {
  throw error
}

/** A database has sessions of opencode; those of its subagents are among them. */
async function importDatabase(
  invocation: Import,
  found: readonly FoundSession[],
  from: string,
): Promise<CommandResult> {
  if (invocation.values.id !== undefined) throw new UsageError("--id is for one session, not for a database.")
  return await importFiles(invocation, found, from)
}

/** Undefined for a file that is no SQLite database. */
async function sessionsInDatabase(file: string, cwd: string): Promise<readonly FoundSession[] | undefined> {
  const path = resolve(cwd, file)
  return file !== "-" && (await isDatabase(path)) ? sessionsOfDatabase(path) : undefined
}

/** The session files of a folder. Files that are no session are left out, unless there is nothing else. */
async function importFolder(invocation: Import, folder: string, from: string): Promise<CommandResult> {
  if (invocation.values.id !== undefined) throw new UsageError("--id is for one file, not for a folder.")
  const sources = await filesInFolder(folder, invocation.io.cwd)
  return await importFiles(invocation, sources, from, (done) => !isOtherFile(done))
}

function isOtherFile(done: Done): boolean {
  return "error" in done && done.error.code === "not_a_session"
}

async function filesInFolder(folder: string, cwd: string): Promise<readonly SourceFile[]> {
  const root = resolve(cwd, folder)
  const files = (await filesBelow(root))
    .filter((name) => /\.(jsonl|json)(\.zst)?$/.test(name) && !/(?:^|\/)agent-[^/]*\.meta\.json$/.test(name))
    .sort()
  if (files.length === 0)
    throw new CommandError(`${folder} has no file that ends in .jsonl or .json; name a session file.`)
  const sources: SourceFile[] = []
  for (const path of files.map((name) => join(root, name))) {
    // The import of a file that cannot be read says why.
    if ((await firstPartOf(path).catch(() => undefined)) === undefined) sources.push({ file: path })
  }
  return sources
}

/** Imports files one after the other and goes on after an error. `isShown`: which results are reported, if any is. */
async function importFiles(
  invocation: Import,
  sources: readonly SourceFile[],
  from: string,
  isShown: (done: Done) => boolean = () => true,
  needsMessage = false,
): Promise<CommandResult> {
  const { progress } = invocation
  const all: Done[] = []
  for (const [n, source] of sources.entries()) {
    const label = `${formatNumber(n + 1)} of ${formatNumber(sources.length)}, `
    const done = await importSource(invocation, source, from, label, needsMessage)
    all.push(done)
    if ("added" in done) all.push(...(await importSubagents(invocation, source.file, done)))
  }
  await progress.clear()
  const shown = all.some(isShown) ? all.filter(isShown) : all
  const imported = shown.filter((done): done is Imported => "added" in done)
  const failed = shown.filter((done): done is Failed => "error" in done)
  const skipped = shown.filter((done): done is Skipped => "skipped" in done)
  const added = imported.filter((one) => one.added)
  // Several files may be one session.
  const sessions = new Set(added.map(({ id }) => id))
  const others = new Set(imported.map(({ id }) => id).filter((id) => !sessions.has(id)))
  const without = skipped.length === 0 ? "" : `, ${formatNumber(skipped.length)} without a message yet`
  return {
    json: { imported, failed, ...(skipped.length === 0 ? {} : { skipped }) },
    text: () => [
      ...added.flatMap(({ id, file, diagnostics, losses, title }): Line[] => [
        [id, styled("dim", `  ${file}${titled(title)}${problemsOf(diagnostics)}`)],
        ...lossLines(losses),
      ]),
      ...failed.flatMap((one) => [failedLine(one), ...(one.error.details ?? []).map((detail) => `  ${detail}`)]),
      `imported ${formatCount(sessions.size, "session")}; ${formatNumber(others.size)} were there already, ${formatNumber(failed.length)} failed${without}`,
    ],
    exit: failed.length === 0 ? 0 : 1,
  }
}

function titled(title: string | undefined): string {
  return title === undefined ? "" : `  ${preview(title, TITLE_UNITS)}`
}

function problemsOf(diagnostics: readonly Diagnostic[]): string {
  return diagnostics.length === 0 ? "" : `, ${formatCount(diagnostics.length, "problem")}`
}

function failedLine({ file, error }: Failed): Line {
  const advice = isOverLimit(error) ? ` ${TOO_LARGE_ADVICE}` : ""
  return [styled("red", "failed"), ` ${file}: ${error.message}${advice}`]
}

/** The sessions of the subagents of an imported file, which are in files of their own. */
async function importSubagents(invocation: Import, file: string, { from }: ImportedFile): Promise<readonly Done[]> {
  const agent = AGENTS.find(({ format }) => format.format === from.format)
  const folder = agent?.subagents?.(file)
  if (folder === undefined || folder === file) return []
  const names = await filesBelow(folder)
  const done: Done[] = []
  const isSession = agent?.isSubagent ?? ((path: string) => path.endsWith(".jsonl"))
  for (const name of names.filter(isSession).sort()) {
    done.push(await importSource(invocation, { file: join(folder, name) }, from.format, `${basename(name)}, `))
  }
  return done
}

async function importSource(
  invocation: Import,
  { file, read }: SourceFile,
  from: string,
  label: string,
  needsMessage = false,
): Promise<Done> {
  const { sessions, values, io } = invocation
  try {
    const source = read ?? ((await openFile(file, io.cwd)) as () => AsyncIterable<Uint8Array>)
    const came = read === undefined ? await readBlobs(sessions.storage, blobFolderOf(file), io.cwd) : []
    const result = await importOne(sessions, source, from, {
      beside: besideFile(file),
      blobs: values["any-blobs"] === true ? "any" : came,
      needsMessage,
      ...progressOf(invocation, label),
    })
    return { ...result, file }
  } catch (error) {
    if (hasCode(error, "aborted") || io.signal?.aborted === true) throw error
    if (needsMessage && hasNoMessage(error)) return { file, skipped: (error as Error).message }
    const { code, message, details } = error as Error & {
      readonly code?: unknown
      readonly details?: readonly string[]
    }
    const reasons = details === undefined ? {} : { details }
    return { file, error: { ...(typeof code === "string" ? { code } : {}), message, ...reasons } }
  }
}

function progressOf({ progress, callOptions }: Import, label: string): object {
  return {
    onProgress: ({ lines, bytes }: { readonly lines: number; readonly bytes: number }) =>
      progress.update(() => `importing: ${label}${formatNumber(lines)} lines, ${formatBytes(bytes)}`),
    ...callOptions,
  }
}

async function isFolder(path: string): Promise<boolean> {
  return await stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  )
}

/** An old log can have hundreds of diagnostics. */
const MAX_DIAGNOSTICS = 10

/** Makes reading abortable: a pipe may never send anything, and an interrupt must not wait for it. */
async function* untilAborted<T>(source: AsyncIterable<T>, signal: AbortSignal | undefined): AsyncIterable<T> {
  const chunks = source[Symbol.asyncIterator]()
  const aborted = new Promise<never>((_, reject) => {
    signal?.addEventListener("abort", () => reject(signal.reason as Error), { once: true })
  })
  aborted.catch(() => undefined)
  for (;;) {
    const { done, value } = await Promise.race([chunks.next(), aborted])
    if (done === true) return
    yield value
  }
}
