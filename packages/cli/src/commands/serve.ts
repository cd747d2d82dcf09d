import { randomBytes } from "node:crypto"
import { readFile } from "node:fs/promises"
import { resolve } from "node:path"
import type { Search } from "@sessions/search"
import { type Command, defineCommand } from "../command.ts"
import { UsageError } from "../errors.ts"
import { withFileError } from "../files/read-write.ts"
import { integerOption } from "../option-values.ts"
import { writeJson, writeLines } from "../output/lines.ts"
import { serveOnLoopback } from "../serve.ts"
import { commandSummarizer } from "../summarizer.ts"
import { indexFolderOf, openSearch } from "../store/search-index.ts"

export const serve: Command = defineCommand({
  name: "serve",
  summary: "show the sessions of the store in a browser, on this machine only; with their API",
  args: [],
  options: {
    port: { type: "string", value: "N", help: "port on 127.0.0.1 (default: any free one)" },
    "token-file": {
      type: "string",
      value: "FILE",
      help: "file that holds the token (default: a new token for each start)",
    },
    write: { type: "boolean", help: "let the page and the session API change and delete sessions" },
    summarizer: {
      type: "string",
      value: "COMMAND",
      help: "with --write: shell command that reads the prompt of a compaction and prints the summary",
    },
    "no-index": { type: "boolean", help: "no search over all sessions, and no index for it" },
  },
  notes: [
    "Prints the address to open, with a token in it: anyone with the token can read the sessions, and with --write change and delete them.",
    "Answers no other machine. The session API of @sessions/http is below /sessions, with the same token; it runs no prompts. A search over",
    "all sessions keeps the index of grep. Ends on an interrupt (Ctrl-C).",
  ],
  examples: [
    "serve",
    "serve --port 7070 --token-file ~/.sessions-token",
    "serve --store sqlite:sessions.db",
    'serve --write --summarizer "llm -m gpt-4o"',
  ],
  async run({ sessions, store, values, json, io, callOptions }) {
    const port = integerOption("port", values.port, 0, 65_535) ?? 0
    const file = values["token-file"]
    const token = file === undefined ? randomBytes(24).toString("base64url") : await readToken(file, io.cwd)
    const folder = values["no-index"] === true ? undefined : indexFolderOf(store, io)
    const write = values.write === true
    const { summarizer } = values
    if (summarizer !== undefined && !write) throw new UsageError("--summarizer requires --write.")
    if (summarizer?.trim() === "") throw new UsageError("--summarizer needs a shell command.")
    const [{ createInspector }, { createSessionApi }] = await Promise.all([
      import("@sessions/inspector"),
      import("../session-api.ts"),
    ])
    const onError = (error: unknown): void => void writeLines(io.stderr, [`sessions: ${String(error)}`], io.env)
    const api = createSessionApi(sessions, { write, onError })
    let search: Promise<Search> | undefined
    const inspector = createInspector({
      sessions,
      token,
      onError,
      write,
      api,
      ...(summarizer === undefined ? {} : { summarize: commandSummarizer(summarizer, io) }),
      ...(folder === undefined
        ? {}
        : {
            async search(words, o) {
              const found = await (await (search ??= openSearch(sessions.storage, folder))).search(words, {
                ...o,
                limit: HITS,
              })
              return found.hits
            },
          }),
    })
    const served = await serveOnLoopback(inspector, port)
    try {
      const url = `http://127.0.0.1:${served.port}/#token=${token}`
      if (json) await writeJson(io.stdout, { url, port: served.port })
      else await writeLines(io.stdout, [url], io.env)
      await aborted(callOptions.signal)
    } finally {
      await served.close()
      await api.close()
      await (await search?.catch(() => undefined))?.close()
    }
    return undefined
  },
})

const HITS = 50

async function readToken(file: string, cwd: string): Promise<string> {
  const token = (await withFileError(file, "read", () => readFile(resolve(cwd, file), "utf8"))).trim()
  if (/^[\w.~-]{16,}$/.test(token)) return token
  throw new UsageError(`${file} needs a token of at least 16 letters, digits and the characters - _ . ~`)
}

function aborted(signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted === true) resolve()
    else signal?.addEventListener("abort", () => resolve(), { once: true })
  })
}
