import { hasCode } from "@sessions/core"
import type { SearchHit, SearchPage } from "@sessions/search"
import { type Command, defineCommand } from "../command.ts"
import { CommandError, EXIT_FAILED, UsageError } from "../errors.ts"
import { integerOption } from "../option-values.ts"
import { fit, formatTime } from "../output/format.ts"
import { type Line, styled, type View } from "../output/lines.ts"
import { roleSpan } from "../output/messages.ts"
import { unreadableJson, unreadableLine } from "../output/unreadable.ts"
import { absoluteFolder } from "../store/resolve.ts"
import { indexFolderOf, openSearch } from "../store/search-index.ts"

export const grep: Command = defineCommand({
  name: "grep",
  summary: "find words in all sessions of the store, newest first",
  args: ["WORDS..."],
  options: {
    cwd: { type: "string", value: "PATH", help: "only sessions of this folder (. is the current one)" },
    role: { type: "string", value: "ROLE", help: "only this role: user, assistant, toolResult, …, or compaction" },
    best: { type: "boolean", help: "the best matches first" },
    limit: { type: "string", value: "N", help: "hits per page, 1 to 200 (default 20)" },
    cursor: { type: "string", value: "CURSOR", help: "continue after the previous page" },
    rebuild: { type: "boolean", help: "build the index anew" },
    "no-index": { type: "boolean", help: "read every session instead of an index; writes nothing" },
  },
  notes: [
    "Finds entries in which each word begins some word, on all branches; case and accents do not count. Hidden and edited entries are not found.",
    "Keeps an index beside the store (.search in the folder, PATH-search for SQLite), else in the cache folder of the user. It holds the texts",
    "of the sessions; it may be deleted, and the next search builds it again. A runtime without SQLite reads every session. Exit status 1: no match.",
  ],
  examples: ["grep deploy key", "grep key --cwd . --role user", 'grep "npm test" --best --limit 5', "grep key --json"],
  async run(invocation) {
    const { sessions, values, args, io, callOptions, progress, store } = invocation
    if (values.rebuild === true && values["no-index"] === true)
      throw new UsageError("use --rebuild or --no-index, not both.")
    const limit = integerOption("limit", values.limit, 1, 200)
    const folder = values["no-index"] === true ? undefined : indexFolderOf(store, io)
    const find = async (place: string | undefined): Promise<SearchPage> => {
      const search = await openSearch(sessions.storage, place)
      try {
        if (values.rebuild === true) await search.clear()
        await search.catchUp({
          ...callOptions,
          onProgress: ({ sessions: done, of }) => progress.update(() => `reading session ${done} of ${of}`),
        })
        return await search.search(args.join(" "), {
          ...callOptions,
          // All was read just now.
          catchUp: "own",
          ...(values.best === true ? { order: "best" } : {}),
          ...(limit === undefined ? {} : { limit }),
          ...(values.cwd === undefined ? {} : { cwd: absoluteFolder(values.cwd, io.cwd) }),
          ...(values.role === undefined ? {} : { role: values.role }),
          ...(values.cursor === undefined ? {} : { cursor: values.cursor }),
        })
      } finally {
        await search.close()
      }
    }
    const page = await find(folder).catch(async (error: unknown) => {
      if (folder === undefined) throw error
      if (hasCode(error, "unsupported")) {
        await progress.clear()
        await io.stderr.write(`sessions: ${NO_SQLITE}
`)
        return find(undefined)
      }
      // Of the index, not of the store: a store that may only be read, or whose disk is full, can be searched all the same.
      if (!(error instanceof Error) || !error.message.includes(folder)) throw error
      throw new CommandError(`${error.message} Or use --no-index, which reads every session and writes nothing.`)
    })
    return {
      json: { ...page, unreadable: page.unreadable.map(unreadableJson) },
      exit: page.hits.length === 0 ? EXIT_FAILED : 0,
      text: (view) => pageLines(page, view, sessions.storage.description),
    }
  },
})

const NO_SQLITE =
  "this runtime has no SQLite for an index, so every session is read; Node 22.13 or newer, Bun and Deno have it."

function pageLines({ hits, next, unreadable }: SearchPage, view: View, store: string): Line[] {
  return [
    ...(hits.length === 0 ? [`No match in ${store}.`] : hits.flatMap((hit) => hitLines(hit, view))),
    ...unreadable.map(unreadableLine),
    ...(next === undefined ? [] : [styled("dim", `next page: the same command with --cursor ${next}`)]),
  ]
}

function hitLines({ session, timestamp, role, entryId, snippet }: SearchHit, view: View): Line[] {
  const parts = snippet.map(({ text, match }) => (match ? styled("yellow", text) : text))
  return [
    fit(
      [styled("bold", session), `  ${formatTime(timestamp)}  `, roleSpan(role), styled("dim", `  ${entryId}`)],
      view.columns,
    ),
    fit(["  ", ...parts], view.columns),
  ]
}
