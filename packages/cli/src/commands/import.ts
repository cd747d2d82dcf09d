import type { ImportFormat } from "@sessions/core"
import { choiceOption } from "../args.ts"
import { blobFolderOf, readBlobs } from "../blob-folder.ts"
import type { Command } from "../command.ts"
import { defineCommand } from "../command.ts"
import { diagnosticLines } from "../diagnostics.ts"
import { openFile } from "../files.ts"
import { formatBytes, formatNumber } from "../format.ts"
import { writeLines } from "../output.ts"
import { newId } from "../resolve.ts"

const FORMATS: readonly ImportFormat[] = ["auto", "sessions", "pi", "oh-my-pi"]

export const importCommand: Command = defineCommand({
  name: "import",
  summary: "make a session of a session file, and print its id",
  args: ["FILE"],
  options: {
    from: { type: "string", value: "FORMAT", help: `what wrote the file: ${FORMATS.join(", ")} (default auto)` },
    id: { type: "string", value: "ID", help: "the new session's id (default: a new one)" },
  },
  notes: [
    "FILE - is standard input. Blobs that export left beside a file, in FILE.blobs/, come along.",
    "What was odd in the file is said on standard error; standard output gets the id alone.",
  ],
  examples: [
    "import ~/.pi/agent/sessions/--project--/2026-01-05.jsonl",
    "import backup.jsonl --id 01JGN3V6Z4W3A5T1C8Y2K7M9QX",
    "import - --from pi < session.jsonl",
  ],
  async run({ sessions, args: [file = ""], values, io, call, json, progress }) {
    const options = { ...newId(values.id), from: choiceOption("from", values.from, FORMATS, "auto") }
    const source = file === "-" ? io.stdin : await openFile(file, io.cwd)
    if (file !== "-") await readBlobs(sessions.storage, blobFolderOf(file), io.cwd)
    const result = await sessions.import(source, {
      ...options,
      onProgress: ({ lines, bytes }) =>
        progress.update(() => `importing: ${formatNumber(lines)} lines, ${formatBytes(bytes)}`),
      ...call,
    })
    await progress.clear()
    if (!json) await writeLines(io.stderr, diagnosticLines(result.diagnostics, SHOWN), io.env)
    return { json: result, text: () => [result.id] }
  },
})

/** Diagnostics of an old log can be hundreds. */
const SHOWN = 10
