/** The public pure functions refuse an option that they do not have, with the nearest name. */
import { expect, test } from "vitest"
import { chain, user } from "../test/chain.ts"
import { askForSummaries, findCutPoint, prepareCompaction, shouldCompact } from "./compaction/index.ts"
import { buildSessionContext, EntryLog, pruneMessages } from "./context/index.ts"
import { blobRefs, planBlobs, readLines, restoreBlobs, truncateOversize } from "./format/index.ts"
import { createMemoryStorage } from "@sessions/memory"
import { collectBlobs } from "./transfer/index.ts"
import { migrateLines } from "./transfer/migrate/index.ts"

const log = EntryLog.of(chain(user("a")))
const entry = chain(user("a"))[1] as object
const work = { history: [], turnPrefix: [], previousSummary: undefined }

/** A misspelt option, and the call that has it. */
const CALLS: readonly (readonly [string, string, (o: never) => unknown])[] = [
  ["widow", "window", (o) => buildSessionContext(log, undefined, o)],
  ["widow", "window", (o) => pruneMessages([], { aggressive: true }, o)],
  ["keepAssistantMessage", "keepAssistantMessages", (o) => pruneMessages([], o)],
  ["tokenAt", "tokensAt", (o) => findCutPoint([], { kind: "turns", count: 1 }, o)],
  ["keeps", "keep", (o) => prepareCompaction(log, [], o)],
  ["maxSummaryToken", "maxSummaryTokens", (o) => askForSummaries(work, async () => "", o)],
  ["reserveToken", "reserveTokens", (o) => shouldCompact(1, 1_000, o)],
  ["maxLineByte", "maxLineBytes", (o) => readLines(["{}"], o).next()],
  ["textUnit", "textUnits", (o) => planBlobs(entry, o)],
  ["textUnit", "textUnits", (o) => truncateOversize(entry, o)],
  ["foriegn", "foreign", (o) => blobRefs(entry, o)],
  ["foriegn", "foreign", (o) => restoreBlobs(entry, () => undefined, o)],
  ["idd", "id", (o) => migrateLines([], o)],
  ["olderThen", "olderThan", (o) => collectBlobs(createMemoryStorage(), o)],
]

test.each(CALLS)("%s: did you mean %s? (%s)", async (wrong, right, call) => {
  const error = await (async () => call({ [wrong]: 1 } as never))().then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  expect(error).toMatchObject({ code: "invalid" })
  expect((error as Error).message).toContain(`has no option "${wrong}". Did you mean "${right}"?`)
})
