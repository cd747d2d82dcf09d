import type { ImportFormat } from "@sessions/core"
import { choiceOption } from "../option-values.ts"
import { blobFolderOf, readBlobs } from "../files/blob-folder.ts"
import { type Command, defineCommand } from "../command.ts"
import { diagnosticLines } from "../output/diagnostics.ts"
import { openFile } from "../files/read-write.ts"
import { formatBytes, formatNumber } from "../output/format.ts"
import { writeLines } from "../output/lines.ts"
import { newId } from "../store/resolve.ts"

const FORMATS: readonly ImportFormat[] = ["auto", "sessions", "pi", "oh-my-pi"]

export const importCommand: Command = defineCommand({
  name: "import",
  summary: "create a session from a session file and print its id",
  args: ["FILE"],
  options: {
    from: { type: "string", value: "FORMAT", help: `format of the file: ${FORMATS.join(", ")} (default auto)` },
    id: { type: "string", value: "ID", help: "id of the new session (default: generated)" },
    "any-blobs": { type: "boolean", help: "accept references to any blob of the store; only for files that you trust" },
  },
  notes: [
    "Use - as FILE to read standard input. Blobs in FILE.blobs/, where export puts them, are imported too. References to other",
    "blobs are removed, because these may be the content of other sessions.",
    "Problems in the file are printed to standard error, the id alone to standard output.",
  ],
  examples: [
    "import ~/.pi/agent/sessions/--project--/2026-01-05.jsonl",
    "import backup.jsonl --id 01JGN3V6Z4W3A5T1C8Y2K7M9QX",
    "import - --from pi < session.jsonl",
  ],
  createsStore: () => true,
  async run({ sessions, args: [file = ""], values, io, callOptions, json, progress }) {
    const options = { ...newId(values.id), from: choiceOption("from", values.from, FORMATS, "auto") }
    const source = file === "-" ? io.stdin : await openFile(file, io.cwd)
    const interruptible = typeof source === "function" ? source : untilAborted(source, io.signal)
    const came = file === "-" ? [] : await readBlobs(sessions.storage, blobFolderOf(file), io.cwd)
    const result = await sessions.import(interruptible, {
      ...options,
      blobs: values["any-blobs"] === true ? "any" : came,
      onProgress: ({ lines, bytes }) =>
        progress.update(() => `importing: ${formatNumber(lines)} lines, ${formatBytes(bytes)}`),
      ...callOptions,
    })
    await progress.clear()
    if (!json) await writeLines(io.stderr, diagnosticLines(result.diagnostics, MAX_DIAGNOSTICS), io.env)
    return { json: result, text: () => [result.id] }
  },
})

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
