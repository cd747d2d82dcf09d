/** Ids and names of calls that one provider made, in the form that another one takes. */
import { isObject } from "@sessions/formats/messages/values"
import { checkArgument } from "./check.ts"
import type { Form, IdForm } from "./rules.ts"

export function fits(text: string, { refused, min, max, first }: Form): boolean {
  const isTaken = text.length >= min && text.length <= max && text.search(refused) < 0
  return isTaken && (first === undefined || first.test(text))
}

/**
 * The ids of calls in a request: an id that fits stays, unless a call before has it (local models use their ids again) and the receiver takes each
 * once. Another one is replaced by one that no call before has. What a call is sent with depends on the calls before it only, so it stays the same while
 * the conversation grows.
 */
export class CallIds {
  readonly #form: IdForm
  readonly #taken = new Set<string>()
  /** By the id in the log: what the last call with it is sent with. */
  readonly #sent = new Map<string, string>()
  /** By the id in the log: how many were tried. */
  readonly #tried = new Map<string, number>()

  constructor(form: IdForm) {
    checkArgument("CallIds", isObject(form), "the form of ids, `callId` of the rules of a receiver", form)
    this.#form = form
  }

  ofCall(id: string): string {
    checkArgument("ofCall", typeof id === "string", "the id of a call", id)
    const known = this.#form.once ? undefined : this.#sent.get(id)
    if (known !== undefined) return known
    let n = this.#tried.get(id) ?? 0
    let sent: string
    do sent = candidate(id, ++n, this.#form)
    while (this.#taken.has(sent))
    this.#tried.set(id, n)
    this.#taken.add(sent)
    this.#sent.set(id, sent)
    return sent
  }

  /** The results of a message's calls follow it. */
  ofResult(id: string): string {
    return this.#sent.get(id) ?? id
  }
}

/** The `n`-th id to try for a call: as readable as the form allows. */
function candidate(id: string, n: number, form: Form): string {
  if (n === 1 && fits(id, form)) return id
  const clean = id.replaceAll(form.refused, form.filler) || "call"
  const readable = n === 1 ? clean : `${clean}${form.filler}${n}`
  if (fits(readable, form)) return readable
  const digest = digestOf(n === 1 ? id : `${n} ${id}`)
  return `${clean.slice(0, Math.max(0, form.max - digest.length))}${digest}`.slice(-form.max)
}

/**
 * The form that every API takes. Kimi wants a letter first, "function name is invalid, must start with a letter": github.com/MoonshotAI/kimi-cli/issues/1773
 * (2026-11-28). OpenAI takes 64 characters and neither `.` nor `:`.
 */
export const TOOL_NAME: Form = {
  refused: /[^a-zA-Z0-9_-]/g,
  filler: "_",
  min: 1,
  max: 64,
  first: /^[a-zA-Z]/,
  says: "names of letters, digits, `_` and `-`, a letter first, 64 at most",
}

/**
 * The name under which a tool can be declared to every provider: letters, digits, `_` and `-`, a letter first, 64 characters at most. A name of
 * this form stays. Another one, such as a name of MCP with dots, is changed and gets a digest of 64 bits at its end, so that different names stay
 * different. The same name gives the same one in every process, and requests have calls of such names under it. Calls come with the declared name:
 *
 * ```ts
 * import { toolCalls, toolName } from "@sessions/providers"
 *
 * const run = new Map([["files.read file", async (input: object) => JSON.stringify(input)]])
 * const byName = new Map([...run].map(([name, execute]) => [toolName(name), execute]))
 * const answer = { role: "assistant", content: [{ type: "toolCall", id: "1", name: toolName("files.read file"), arguments: {} }] } as const
 * for (const call of toolCalls(answer)) await byName.get(call.name)?.(call.arguments)
 * ```
 */
export function toolName(name: string): string {
  checkArgument("toolName", typeof name === "string", "the name of a tool", name)
  if (fits(name, TOOL_NAME)) return name
  const clean = name.replaceAll(TOOL_NAME.refused, TOOL_NAME.filler) || "unnamed"
  const digest = `_${digestOf(name)}`
  const begin = /^[a-zA-Z]/.test(clean) ? clean : `t_${clean}`
  return `${begin.slice(0, TOOL_NAME.max - digest.length)}${digest}`
}

/** The name of a call in a request. */
export function sentName(name: string, form: Form): string {
  checkArgument("sentName", typeof name === "string", "the name of a tool", name)
  return fits(name, form) ? name : toolName(name)
}

/** 14 characters of 0-9 and a-z: two hashes of 32 bits, after FNV-1a with two primes. */
function digestOf(text: string): string {
  let [a, b] = [0x811c9dc5, 0x9e3779b9]
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i)
    a = Math.imul(a ^ unit, 0x01000193)
    b = Math.imul(b ^ unit ^ (b >>> 15), 0x85ebca6b)
  }
  const mixed = (hash: number) => ((hash ^ (hash >>> 16)) >>> 0).toString(36).padStart(7, "0")
  return `${mixed(a)}${mixed(b)}`
}
