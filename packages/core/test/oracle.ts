/** The rules that the stored log and all outcomes of a simulation must follow. */
import { createMemoryStorage } from "@sessions/memory"
import type { Entry } from "../src/format/entry.ts"
import { type NewEntry, normalizeNewEntry } from "../src/format/new-entry.ts"
import { isConversation } from "../src/write/pending.ts"
import { isSameContent } from "../src/write/repeats.ts"
import { createSessions } from "../src/session/repository.ts"
import { EntryLog } from "../src/log/entry-log.ts"
import { pathTo } from "../src/log/walk.ts"
import type { MadeAppend, SimulatedWriter, World } from "./simulation.ts"
import { brokenTips } from "./tips-law.ts"
import { storedEntries } from "./writers.ts"
import { sessionTree } from "@sessions/core/transfer"

export async function brokenRules(world: World): Promise<string[]> {
  const log = await storedEntries(world.location)
  const view: View = { world, log, places: new Map(log.map((entry, index) => [entry.id, index + 1])) }
  const ofWriters = await Promise.all(world.writers.map((writer, number) => brokenByWriter(view, writer, number)))
  return [
    ...world.problems,
    ...brokenByLog(view),
    ...world.appends.flatMap((call) => brokenByAnswer(view, call)),
    ...ofWriters.flat(),
    ...(await brokenByInformation(view)),
    ...(await brokenTips(world, log)),
    // If two writers append the same entry, the entries behind it are where the first of them put it.
    ...(world.repeats ? [] : movedBySides(view)),
  ]
}

interface View {
  readonly world: World
  readonly log: readonly Entry[]
  /** The entries of each id in the log. */
  readonly places: ReadonlyMap<string, number>
}

/** Every entry is there once, at its own seq, after its parent. */
function brokenByLog({ log, places }: View): string[] {
  const broken = places.size === log.length ? [] : ["an id is in the log twice"]
  for (const [index, { id, seq, parentId }] of log.entries()) {
    if (seq !== index + 1) broken.push(`${id} says seq ${seq} at place ${index + 1}`)
    const parent = parentId === null ? 0 : places.get(parentId)
    if (parent === undefined || parent > index) broken.push(`the parent of ${id} does not stand before it`)
  }
  return broken
}

/** Acknowledged entries are in the log; definitely rejected ones never are. */
function brokenByAnswer({ world, log, places }: View, call: MadeAppend): string[] {
  const { ids, outcome } = call
  if (outcome === undefined) return [`${ids.join()} was never answered`]
  if ("result" in outcome) {
    const { result } = outcome
    return [
      ...(result.ids.join() === ids.join() ? [] : [`${ids.join()} was answered with other ids`]),
      ...ids.filter((id) => !places.has(id)).map((id) => `${id} was acknowledged and is not in the log`),
      ...call.entries
        .filter((entry) => !isStored(entry, log[(places.get(entry.id as string) ?? 0) - 1]))
        .map(({ id }) => `${id} was acknowledged with other content than it has in the log`),
      ...ids
        .filter((id) => (places.get(id) ?? 0) >= result.head.next)
        .map((id) => `the head that was given for ${id} is before it`),
    ]
  }
  if (outcome.code === "indeterminate" || outcome.sent) return []
  const elsewhere = (id: string): boolean => world.appends.some((other) => other !== call && other.ids.includes(id))
  return ids
    .filter((id) => places.has(id) && !elsewhere(id))
    .map((id) => `${id} was refused (${String(outcome.code)}) and is in the log`)
}

/** Whether the log has this content; large values in blobs are not compared. */
function isStored(entry: NewEntry, stored: Entry | undefined): boolean {
  return stored?.blobs !== undefined || (stored !== undefined && isSameContent({ ...normalizeNewEntry(entry) }, stored))
}

/** A writer's own entries are in the order of its calls, and its memory is the log as far as it has read it. */
async function brokenByWriter(view: View, writer: SimulatedWriter, number: number): Promise<string[]> {
  const { world, log, places } = view
  const { session, rolledBack } = writer
  const broken: string[] = []
  const orders = log
    .filter(({ id }) => writerOf(world, id) === number && !world.branches.has(id))
    .map(({ id }) => world.appends.findIndex(({ ids }) => ids.includes(id)))
  if (orders.join() !== orders.toSorted((a, b) => a - b).join()) broken.push(`writer ${number} is out of order`)

  if (session.head?.next !== log.length + 1) broken.push(`writer ${number} has not read the whole log`)
  const { path } = await sessionTree(session)
  const whole = EntryLog.of([undefined, ...log])
  const stored = session.leafId === null ? [] : pathIds(whole, whole.find(session.leafId) ?? -1)
  if (path.join() !== stored.join()) broken.push(`writer ${number} has the path ${path.join()}, not ${stored.join()}`)
  await session.context()
  for await (const entry of session.entries()) {
    if (places.get(entry.id) !== entry.seq) broken.push(`writer ${number} has ${entry.id} elsewhere`)
  }
  for (const id of rolledBack) {
    if (!places.has(id) && (await session.entry(id)) !== undefined) broken.push(`${id} has not left memory`)
  }
  for (const entry of log.slice(0, (session.head?.next ?? 1) - 1)) {
    const held = await session.entry(entry.id)
    if (held?.parentId !== entry.parentId) broken.push(`writer ${number} has another parent of ${entry.id}`)
  }
  return broken
}

async function brokenByInformation({ world, log }: View): Promise<string[]> {
  const sessions = createSessions({ storage: createMemoryStorage({ location: world.location }) })
  const { messageCount, title } = await sessions.info("s")
  const titles = log
    .filter(({ type }) => type === "title_change")
    .toSorted((a, b) => (stampText(a) < stampText(b) ? -1 : 1))
  const last = titles.at(-1) as { title?: string } | undefined
  return [
    ...(messageCount === log.filter(({ type }) => type === "message").length ? [] : ["the information miscounts"]),
    ...(title === last?.title ? [] : ["the information has another title than the log"]),
  ]
}

/** All timestamps of a simulation have the same form. */
function stampText({ timestamp, id }: Entry): string {
  return `${timestamp} ${id}`
}

/** Annotations never move the active branch: a reader finds the same conversation before and after such a line. */
function movedBySides({ log }: View): string[] {
  const whole = EntryLog.of([undefined, ...log])
  const talk = (seq: number): string =>
    pathIds(whole, seq)
      .filter((id) => isConversation(whole.at(whole.find(id) as number) as Entry))
      .join()
  const moved: string[] = []
  for (let seq = 2; seq < whole.end; seq++) {
    const { id, type } = whole.at(seq) as Entry
    if (!isConversation({ type }) && talk(seq) !== talk(seq - 1)) moved.push(`${id} moved the branch`)
  }
  return moved
}

function pathIds(log: EntryLog, leaf: number): string[] {
  return pathTo(log, leaf).seqs.map((seq) => (log.at(seq) as Entry).id)
}

/** Undefined if several writers have appended it. */
function writerOf({ appends, branches }: World, id: string): number | undefined {
  const calls = appends.filter(({ ids }) => ids.includes(id))
  return calls.length === 1 ? calls[0]?.writer : branches.get(id)
}
