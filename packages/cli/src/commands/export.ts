import type { ExportOptions } from "@sessions/core"
import { choiceOption } from "../option-values.ts"
import { blobFolderOf, writeBlobs } from "../files/blob-folder.ts"
import { type Command, type CommandResult, defineCommand, type Invocation } from "../command.ts"
import { UsageError } from "../errors.ts"
import { removePath, writeNewFile } from "../files/read-write.ts"
import { formatBytes, formatCount } from "../output/format.ts"
import type { Sink } from "../io.ts"
import type { Progress } from "../output/progress.ts"
import { sanitizeJson, sanitizeLine } from "../output/sanitize.ts"

const FORMATS = ["jsonl", "markdown"] as const

export const exportCommand: Command = defineCommand({
  name: "export",
  summary: "print a session's log as stored, or as Markdown",
  args: ["ID"],
  options: {
    format: { type: "string", value: "FORMAT", help: `${FORMATS.join(" or ")} (default jsonl)` },
    "self-contained": { type: "boolean", help: "put images and long texts back into the log" },
    backup: { type: "boolean", help: "the log before its migration" },
    out: { type: "string", value: "FILE", help: "write to a new file, and the log's blobs to FILE.blobs/" },
  },
  examples: [
    "export @last > session.jsonl",
    "export @last --format markdown --out session.md",
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
    if (json && values.out === undefined)
      throw new UsageError("export --json reports the written file; add --out FILE.")
    const id = await resolveSession(ref)
    const options: ExportOptions = {
      format,
      selfContained,
      backup: values.backup === true,
      ...callOptions,
    }
    const text = sessions.export(id, options)
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
    await writeToStdout(io.stdout.isTerminal ? text : withProgress(text, progress), io.stdout, format)
    return undefined
  },
})

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
async function writeToStdout(text: AsyncIterable<string>, stdout: Sink, format: "jsonl" | "markdown"): Promise<void> {
  const sanitize = format === "jsonl" ? sanitizeJson : sanitizeText
  for await (const chunk of text) await stdout.write(stdout.isTerminal ? sanitize(chunk) : chunk)
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
