/**
 * The law of open tips, in a simulation of writers: a branch is open until a writer leaves it knowingly, and no program is silent about one.
 * Compared with the whole tree of the stored log, see `tips-oracle.ts`.
 */
import { createMemoryStorage } from "@sessions/memory"
import type { Entry } from "../src/format/entry.ts"
import type { OpenTips } from "../src/log/projected-tips.ts"
import { createSessions } from "../src/session/repository.ts"
import type { SimulatedWriter, World } from "./simulation.ts"
import { ancestorsOf, trueTips, type TrueTips } from "./tips-oracle.ts"
import { sessionBranches } from "@sessions/core/transfer"

export async function brokenTips(world: World, log: readonly Entry[]): Promise<string[]> {
  const truth = trueTips([undefined, ...log], 0)
  const ofWriters = await Promise.all(world.writers.map((writer, number) => brokenByWriter(truth, log, writer, number)))
  return [
    ...(await brokenByReader(world, truth, log)),
    ...ofWriters.flat(),
    ...brokenByKnowledge(world, log),
    ...(world.branching ? [] : hiddenMessages(truth, log)),
  ]
}

/** A program that opens the log reports the open tips, from the stored information as from the whole log. */
async function brokenByReader({ location }: World, truth: TrueTips, log: readonly Entry[]): Promise<string[]> {
  const sessions = createSessions({ storage: createMemoryStorage({ location }) })
  const session = await sessions.open("s")
  const { openTips } = await sessions.info("s")
  const branches = await sessionBranches(session)
  const open = branches.filter(({ settled, current }) => !settled && !current)
  const expected = namesOf(log, truth.open)
  return [
    ...differs("the information", openTips, expected),
    ...differs("the diagnostic of an opening", reportedBy(session), expected),
    ...differs("branches()", { tips: open }, expected),
  ]
}

/** A session whose leaf is elsewhere reports the tips that are open to it, and has told its caller of each. */
async function brokenByWriter(
  truth: TrueTips,
  log: readonly Entry[],
  { session, reported }: SimulatedWriter,
  number: number,
): Promise<string[]> {
  const { leafId } = session
  const leaf = leafId === null ? null : log.findIndex(({ id }) => id === leafId) + 1
  const at = leaf === null ? null : truth.anchors[leaf]
  const expected = namesOf(
    log,
    truth.tips.filter((seq) => seq !== at && !truth.settled.has(seq)),
  )
  const told = reportedBy(session)
  const silent = expected.filter((id) => !reported.has(id))
  const { openTips } = await session.info()
  return [
    ...differs(`the diagnostic of writer ${number}`, told, expected),
    ...differs(`the information of writer ${number}`, openTips, expected),
    ...(silent.length === 0 || told?.more !== undefined ? [] : [`writer ${number} was not told of ${silent.join()}`]),
  ]
}

/** What an entry settles, its writer knew when it was made: it is on the path that was left, or was reported. */
function brokenByKnowledge({ leaving }: World, log: readonly Entry[]): string[] {
  return log.flatMap((entry) => {
    const known = leaving.get(entry.id)
    // Of an entry that was written although its call failed, the id was not told.
    if (known === undefined) return []
    const settles = (entry as { readonly settles?: readonly string[] }).settles ?? []
    return settles.filter((id) => !known.has(id)).map((id) => `${entry.id} settles ${id}, which was not known`)
  })
}

/** Without branches on purpose, every message is on the current path or on that of an open tip. */
function hiddenMessages(truth: TrueTips, log: readonly Entry[]): string[] {
  const on = ancestorsOf(truth, [truth.current, ...truth.open])
  return log
    .filter(({ type }, index) => type === "message" && !on.has(index + 1))
    .map(({ id }) => `message ${id} is on no path`)
}

function reportedBy({ diagnostics }: SimulatedWriter["session"]): OpenTips {
  const { tips = [], more } = diagnostics.find(({ code }) => code === "diverged") ?? {}
  return more === undefined ? { tips } : { tips, more }
}

/** Newest first. */
function namesOf(log: readonly Entry[], seqs: readonly number[]): readonly string[] {
  return seqs.map((seq) => (log[seq - 1] as Entry).id).toReversed()
}

function differs(what: string, found: OpenTips | undefined, expected: readonly string[]): string[] {
  const ids = found?.tips.map(({ id }) => id) ?? ["nothing"]
  const isRight = found?.more === undefined ? ids.join() === expected.join() : ids.every((id) => expected.includes(id))
  return isRight ? [] : [`${what} has the open tips ${ids.join()}, not ${expected.join()}`]
}
