import type { ExportOptions } from "@sessions/core"
import { choiceOption } from "../option-values.ts"
import { blobFolderOf, writeBlobs } from "../files/blob-folder.ts"
import type { Command, Invocation, Outcome } from "../command.ts"
import { defineCommand } from "../command.ts"
import { UsageError } from "../errors.ts"
import { writeNewFile } from "../files/read-write.ts"
import { formatBytes, formatCount } from "../output/format.ts"
import type { Sink } from "../io.ts"
import type { Progress } from "../output/progress.ts"
import { cleanJson, cleanLine } from "../output/sanitize.ts"

const FORMATS = ["jsonl", "markdown"] as const

export const exportCommand: Command = defineCommand({
  name: "export",
  summary: "print a session's log as it is stored, or as Markdown",
  args: ["ID"],
  options: {
    format: { type: "string", value: "FORMAT", help: `${FORMATS.join(" or ")} (default jsonl)` },
    "self-contained": { type: "boolean", help: "images and long texts back in their places" },
    backup: { type: "boolean", help: "the log as it was before its migration" },
    out: { type: "string", value: "FILE", help: "write a new file, and the blobs it refers to into FILE.blobs/" },
  },
  examples: [
    "export @last > session.jsonl",
    "export @last --format markdown --out session.md",
    "export 01JGN3 --self-contained --out everything.jsonl",
  ],
  async run(invocation) {
    const {
      sessions,
      session: resolve,
      args: [ref = ""],
      values,
      json,
      io,
      call,
      progress,
    } = invocation
    const format = choiceOption("format", values.format, FORMATS, "jsonl")
    const selfContained = values["self-contained"] === true
    if (selfContained && format !== "jsonl") throw new UsageError("--self-contained goes with --format jsonl.")
    if (json && values.out === undefined)
      throw new UsageError("export --json says what was written and needs --out FILE.")
    const id = await resolve(ref)
    const options: ExportOptions = {
      format,
      selfContained,
      backup: values.backup === true,
      ...call,
    }
    const text = sessions.export(id, options)
    if (values.out !== undefined) {
      return await toFile(
        invocation,
        id,
        text,
        values.out,
        format === "jsonl" && !selfContained && values.backup !== true,
      )
    }
    // A terminal that shows the export shows how far it is.
    await toSink(io.stdout.isTerminal ? text : counted(text, progress), io.stdout, format)
    return undefined
  },
})

async function toFile(
  { sessions, io, progress }: Pick<Invocation, "sessions" | "io" | "progress">,
  id: string,
  text: AsyncIterable<string>,
  file: string,
  withBlobs: boolean,
): Promise<Outcome> {
  const bytes = await writeNewFile(file, io.cwd, counted(text, progress))
  const folder = blobFolderOf(file)
  const blobs = withBlobs ? await writeBlobs(sessions.storage, id, folder, io.cwd) : 0
  const beside = blobs === 0 ? "" : `, with ${formatCount(blobs, "blob")} in ${folder}`
  return {
    json: { id, file, bytes, blobs },
    text: () => [`wrote ${file} (${formatBytes(bytes)})${beside}`],
  }
}

/** To a file or a pipe byte for byte; a terminal is spared the control characters. */
async function toSink(text: AsyncIterable<string>, stdout: Sink, format: "jsonl" | "markdown"): Promise<void> {
  const clean = format === "jsonl" ? cleanJson : cleanText
  for await (const piece of text) await stdout.write(stdout.isTerminal ? clean(piece) : piece)
}

function cleanText(text: string): string {
  return text.split("\n").map(cleanLine).join("\n")
}

async function* counted(text: AsyncIterable<string>, progress: Progress): AsyncIterable<string> {
  let units = 0
  for await (const piece of text) {
    units += piece.length
    progress.update(() => `exporting: ${formatBytes(units)}`)
    yield piece
  }
}
