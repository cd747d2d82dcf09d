/** What must be in a folder: everything acknowledged, and of what was under way nothing, all, or a beginning. Pure. */
import type { Found, Op } from "./protocol.ts"

export interface Model {
  readonly sessions: Readonly<Record<string, readonly string[]>>
  readonly docs: Readonly<Record<string, string>>
  readonly blobs: readonly string[]
}

export interface Verdict {
  /** Acknowledged lines, documents and blobs that are not there. */
  readonly lost: number
  /** What is there and should not be, or is not what it says. */
  readonly corrupt: readonly string[]
}

export const EMPTY: Model = { sessions: {}, docs: {}, blobs: [] }

/** The model after a change that was acknowledged. */
export function applied(model: Model, op: Op): Model {
  switch (op.kind) {
    case "append":
      return withSession(model, op.session, [...(model.sessions[op.session] ?? []), ...op.lines])
    case "replace":
      return withSession(model, op.session, op.lines)
    case "delete":
      return { ...withSession(model, op.session, undefined), docs: without(model.docs, `sessions/${op.session}/`) }
    case "put":
      return { ...model, docs: { ...model.docs, [op.key]: op.text } }
    case "drop":
      return { ...model, docs: without(model.docs, op.key) }
    case "blob":
      return { ...model, blobs: [...new Set([...model.blobs, op.text])] }
    case "sync":
      return model
  }
}

/** Every model that a crash in the middle of a change may leave; of one that had no effect at least that one. */
export function possible(model: Model, op: Op | undefined): readonly Model[] {
  if (op === undefined) return [model]
  const before = op.kind === "append" ? model.sessions[op.session] : undefined
  if (op.kind !== "append" || before === undefined) return [model, applied(model, op)]
  return [model, ...op.lines.map((_, n) => withSession(model, op.session, [...before, ...op.lines.slice(0, n + 1)]))]
}

/** Judges by the possible model that fits best. */
export function judge(models: readonly Model[], found: Found): Verdict {
  const verdicts = models.map((model) => compare(model, found))
  const badness = ({ lost, corrupt }: Verdict): number => lost + corrupt.length
  return verdicts.reduce((best, verdict) => (badness(verdict) < badness(best) ? verdict : best))
}

export function linesIn(op: Op): number {
  return op.kind === "append" || op.kind === "replace" ? op.lines.length : 0
}

function compare(model: Model, found: Found): Verdict {
  const corrupt = [...found.contradictions]
  let lost = 0
  for (const id of new Set([...Object.keys(model.sessions), ...Object.keys(found.sessions)])) {
    const [wanted, there] = [model.sessions[id] ?? [], found.sessions[id] ?? []]
    const missing = wanted.filter((line, seq) => there[seq] !== line).length
    lost += missing
    if (missing > 0) corrupt.push(`${id}: ${missing} of ${wanted.length} lines are not in their place`)
    if (there.length > wanted.length) corrupt.push(`${id}: ${there.length} lines where ${wanted.length} were written`)
  }
  for (const key of new Set([...Object.keys(model.docs), ...Object.keys(found.docs)])) {
    if (model.docs[key] === found.docs[key]) continue
    if (model.docs[key] !== undefined) lost++
    corrupt.push(`${key} is ${JSON.stringify(found.docs[key])}, should be ${JSON.stringify(model.docs[key])}`)
  }
  // Of blobs there may be more: what was under way, and what a log that is gone referred to.
  lost += model.blobs.filter((blob) => !found.blobs.includes(blob)).length
  return { lost, corrupt }
}

function withSession(model: Model, session: string, lines: readonly string[] | undefined): Model {
  const sessions = { ...model.sessions }
  if (lines === undefined) delete sessions[session]
  else sessions[session] = lines
  return { ...model, sessions }
}

function without(docs: Readonly<Record<string, string>>, prefix: string): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(docs).filter(([key]) => key !== prefix && !(prefix.endsWith("/") && key.startsWith(prefix))),
  )
}
