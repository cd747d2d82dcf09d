import type { Sessions } from "@sessions/core"
import { exportSession } from "@sessions/core/transfer"
import { type Loss, writers } from "@sessions/formats"
import { choiceOption } from "../option-values.ts"
import { blobFolderOf, writeBlobs } from "../files/blob-folder.ts"
import { type Command, type CommandResult, defineCommand, type Invocation } from "../command.ts"
import { UsageError } from "../errors.ts"
import { removePath, writeNewFile } from "../files/read-write.ts"
import { readRedaction } from "../files/redaction.ts"
import { formatBytes, formatCount } from "../output/format.ts"
import type { Sink } from "../io.ts"
import { lossLines, writtenText } from "../files/write-as.ts"
import { conversationOf } from "../store/conversation.ts"
import { writeLines } from "../output/lines.ts"
import type { Progress } from "../output/progress.ts"
import { sanitizeJson, sanitizeLine } from "../output/sanitize.ts"

const OWN_FORMATS = ["jsonl", "markdown"] as const
const PAGE = "html"
const FORMATS: readonly string[] = [...OWN_FORMATS, PAGE, ...writers.map(({ format }) => format)]

export const exportCommand: Command = defineCommand({
  name: "export",
  summary: "print a session's log as stored, as Markdown, as a web page, or as a file of another agent",
  args: ["ID"],
  options: {
    format: { type: "string", value: "FORMAT", choices: FORMATS, help: `${FORMATS.join(", ")} (default jsonl)` },
    "self-contained": { type: "boolean", help: "put images and long texts back into the log" },
    backup: { type: "boolean", help: "the log before its migration" },
    subagents: { type: "boolean", help: "with html: the sessions of its subagents in the same page" },
    redact: { type: "string", value: "FILE", help: "with html: replace what the regular expressions in FILE match" },
    out: { type: "string", value: "FILE", help: "write to a new file, and the log's blobs to FILE.blobs/" },
  },
  notes: [
    "The page of html is one file that loads nothing and runs nothing of the session. A file for --redact has one regular expression on each",
    "line, as PATTERN or /PATTERN/i; empty lines and those that begin with # do not count. Look at the page before you share it: a rule",
    "finds only what it describes, and no rule sees into an image.",
  ],
  examples: [
    "export @last > session.jsonl",
    "export @last --format html --redact rules.txt --out session.html",
    "export @last --format markdown --out session.md",
    "export @last --format claude-code --out session.jsonl",
    "export 01JGN3 --self-contained --out everything.jsonl",
  ],
  async run(invocation) {
    const {
      sessions,
      resolveSession,
      args: [ref = ""],
      values,
      json,
      io,
      callOptions,
      progress,
    } = invocation
    const format = choiceOption("format", values.format, FORMATS, "jsonl")
    const selfContained = values["self-contained"] === true
    if (selfContained && format !== "jsonl") throw new UsageError("--self-contained requires --format jsonl.")
    if (values.backup === true && !OWN_FORMATS.some((one) => one === format)) {
      throw new UsageError("--backup is for --format jsonl: the old log is in its own format.")
    }
    for (const name of ["subagents", "redact"] as const)
      if (values[name] !== undefined && format !== PAGE) throw new UsageError(`--${name} requires --format ${PAGE}.`)
    if (json && values.out === undefined)
      throw new UsageError("export --json reports the written file; add --out FILE.")
    const id = await resolveSession(ref)
    const agentFormat = writers.find((one) => one.format === format)
    const losses: Loss[] = []
    const isStored = format === "jsonl" || values.backup === true
    const conversation = isStored ? sessions : await conversationOf(sessions, id, callOptions)
    const text =
      format === PAGE
        ? await pageText(invocation, conversation, id)
        : agentFormat === undefined
          ? exportSession(conversation, id, {
              format: format as (typeof OWN_FORMATS)[number],
              selfContained,
              backup: values.backup === true,
              ...callOptions,
            })
          : withLosses(
              writtenText(agentFormat, await conversation.open(id, callOptions), {
                note: (loss) => losses.push(loss),
                ...callOptions,
              }),
              losses,
              invocation,
            )
    if (values.out !== undefined) {
      return await exportToFile(
        invocation,
        id,
        text,
        values.out,
        format === "jsonl" && !selfContained && values.backup !== true,
      )
    }
    // On a terminal the exported text itself shows the progress.
    const sanitize = format === "markdown" || format === PAGE ? sanitizeText : sanitizeJson
    await writeToStdout(io.stdout.isTerminal ? text : withProgress(text, progress), io.stdout, sanitize)
    return undefined
  },
})

async function pageText(
  { values, io, callOptions }: Pick<Invocation, "values" | "io" | "callOptions">,
  conversation: Sessions,
  id: string,
): Promise<AsyncIterable<string>> {
  const { redact: file } = values
  const redact = typeof file === "string" ? { redact: await readRedaction(file, io.cwd) } : {}
  const { sessionPage } = await import("@sessions/inspector")
  return sessionPage(conversation, id, { ...redact, subagents: values["subagents"] === true, ...callOptions })
}

/** Leaves no file if the log or one of its blobs cannot be written. */
async function exportToFile(
  { sessions, io, progress }: Pick<Invocation, "sessions" | "io" | "progress">,
  id: string,
  text: AsyncIterable<string>,
  file: string,
  withBlobs: boolean,
): Promise<CommandResult> {
  const bytes = await writeNewFile(file, io.cwd, withProgress(text, progress))
  const folder = blobFolderOf(file)
  let blobs = 0
  try {
    if (withBlobs) blobs = await writeBlobs(sessions.storage, id, folder, io.cwd)
  } catch (error) {
    await removePath(file, io.cwd)
    throw error
  }
  const blobNote = blobs === 0 ? "" : `, with ${formatCount(blobs, "blob")} in ${folder}`
  return {
    json: { id, file, bytes, blobs },
    text: () => [`wrote ${file} (${formatBytes(bytes)})${blobNote}`],
  }
}

/** Byte for byte into a file or a pipe, without control characters on a terminal. */
async function writeToStdout(
  text: AsyncIterable<string>,
  stdout: Sink,
  sanitize: (text: string) => string,
): Promise<void> {
  for await (const chunk of text) await stdout.write(stdout.isTerminal ? sanitize(chunk) : chunk)
}

/** Says at the end what the file does not hold. */
async function* withLosses(
  text: AsyncIterable<string>,
  losses: readonly Loss[],
  { io, progress }: Pick<Invocation, "io" | "progress">,
): AsyncIterable<string> {
  yield* text
  await progress.clear()
  await writeLines(io.stderr, lossLines(losses), io.env)
}

function sanitizeText(text: string): string {
  return text.split("\n").map(sanitizeLine).join("\n")
}

async function* withProgress(text: AsyncIterable<string>, progress: Progress): AsyncIterable<string> {
  let units = 0
  for await (const chunk of text) {
    units += chunk.length
    progress.update(() => `exporting: ${formatBytes(units)}`)
    yield chunk
  }
}
