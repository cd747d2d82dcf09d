/**
 * The names of a new entry: its type, the role of its message, the types of its blocks. An append takes those of the format, those with a
 * namespace, and those that the repository names, so that a misspelt name is not stored, where no context would show it. Stored entries
 * are read with any name.
 */
import { nearestName, shown } from "../storage/options.ts"
import { ENTRY_TYPES, isNamespaced } from "./entry-types.ts"
import { BLOCK_CHECKS, PI_ROLES, ROLE_CHECKS } from "./message.ts"
import { type Check, isObject } from "./shape.ts"

/** Names without a namespace that appends take beside those of the format. Entries of these types are part of the conversation. */
export interface Extensions {
  /** Types of entries. */
  readonly entries?: readonly string[]
  /** Roles of messages. */
  readonly roles?: readonly string[]
  /** Types of blocks. */
  readonly blocks?: readonly string[]
}

type Kind = keyof Extensions

// Looked up directly for each append.
const ROLES: ReadonlySet<unknown> = namesOf(ROLE_CHECKS, PI_ROLES)
const BLOCKS: ReadonlyMap<unknown, unknown> = BLOCK_CHECKS

const NAMES: Readonly<Record<Kind, Pick<ReadonlyMap<unknown, unknown>, "has" | "keys">>> = {
  entries: ENTRY_TYPES,
  roles: ROLES,
  blocks: BLOCKS,
}

/** A function for the bundler: a page that appends nothing loads none of the checks. */
/* @__NO_SIDE_EFFECTS__ */
function namesOf(checks: ReadonlyMap<string, Check>, more: Iterable<string>): ReadonlySet<string> {
  return new Set([...checks.keys(), ...more])
}

/** Names of other systems, and what takes their place. */
const RIGHT: Readonly<Record<Kind, Readonly<Record<string, string>>>> = {
  entries: {},
  roles: {
    tool: "toolResult",
    function: "toolResult",
    developer: "system",
    model: "assistant",
    ai: "assistant",
    human: "user",
  },
  blocks: {
    tool_use: "toolCall",
    "tool-call": "toolCall",
    function_call: "toolCall",
    functionCall: "toolCall",
    tool_result: "",
    "tool-result": "",
    function_call_output: "",
    functionResponse: "",
    input_text: "text",
    output_text: "text",
    image_url: "image",
    input_image: "image",
    inlineData: "image",
    reasoning: "thinking",
    redacted_thinking: "anthropic:redacted_thinking",
  },
}

/** Whether an append takes the name. */
export function isKnownName(kind: Kind, name: string, extensions: Extensions | undefined): boolean {
  return NAMES[kind].has(name) || isNamespaced(name) || extensions?.[kind]?.includes(name) === true
}

/** The first unknown name of an entry, with the right one: a sentence that starts with the field's path. */
export function nameProblem(
  entry: Readonly<Record<string, unknown>>,
  extensions: Extensions | undefined,
): string | undefined {
  const { type } = entry
  if (type === "message") {
    const { message } = entry
    if (!isObject(message)) return undefined
    const { role, content } = message
    const problem = ROLES.has(role) ? undefined : problemOf("roles", role, extensions, "message.role")
    return problem ?? contentProblem(content, extensions, "message.") ?? callsProblem(message)
  }
  if (type === "custom_message") return contentProblem(entry["content"], extensions, "")
  if (type !== "context_edit") return problemOf("entries", type, extensions, "type")
  const { replacement } = entry
  return isObject(replacement) ? contentProblem(replacement["content"], extensions, "replacement.") : undefined
}

function contentProblem(content: unknown, extensions: Extensions | undefined, path: string): string | undefined {
  if (!Array.isArray(content)) return undefined
  for (let index = 0; index < content.length; index++) {
    const type: unknown = content[index]?.type
    if (BLOCKS.has(type)) continue
    const problem = problemOf("blocks", type, extensions, `${path}content[${index}].type`)
    if (problem !== undefined) return problem
  }
  return undefined
}

/** OpenAI's APIs have calls beside the content. Fields that a message does not have are kept, but no context has them. */
function callsProblem(message: Readonly<Record<string, unknown>>): string | undefined {
  const calls = ["tool_calls", "function_call"].find((name) => !isEmpty(message[name]))
  return (
    calls &&
    `message.${calls} is no field. Make each call a block of the content: { type: "toolCall", id, name, arguments }.`
  )
}

function isEmpty(value: unknown): boolean {
  return value === undefined || value === null || (Array.isArray(value) && value.length === 0)
}

function problemOf(kind: Kind, name: unknown, extensions: Extensions | undefined, path: string): string | undefined {
  if (typeof name !== "string" || isKnownName(kind, name, extensions)) return undefined
  return `${path} ${shown(name)} is unknown. ${nameHint(kind, name)}`
}

/** The replacement for an unknown name. */
export function nameHint(kind: Kind, name: string): string {
  const right = Object.hasOwn(RIGHT[kind], name) ? RIGHT[kind][name] : undefined
  if (right === "") return 'Append a message with the role "toolResult" in its place.'
  if (right !== undefined) return `Use "${right}".`
  if (kind === "entries" && (ROLES.has(name) || Object.hasOwn(RIGHT.roles, name)))
    return `Append { type: "message", message: { role: "${RIGHT.roles[name] ?? name}", … } }.`
  const nearest = nearestName(name, NAMES[kind].keys() as Iterable<string>)
  const own = isNamespaced(`acme:${name}`) && name.length < 40 ? `acme:${name}` : "acme:note"
  return `${nearest === undefined ? "" : `Did you mean "${nearest}"? `}A name of your own needs a namespace, such as "${own}", or a place in \`extensions.${kind}\` of createSessions.`
}
