/** Calls of OpenAI's own tools that the program runs: a shell, patches, a computer, searches for tools, approvals. And their outputs. */
import {
  type ContentBlock,
  type ContextMessage,
  type ModelMessage,
  SessionError,
  type ToolCallBlock,
  type ToolResultMessage,
} from "@sessions/core"
import {
  argumentsOfCall,
  dataUrlOf,
  type Fields,
  fieldsOf,
  imageOfDataUrl,
  isObject,
  stringOf,
  textBlock,
  textOf,
} from "@sessions/formats/messages/values"
import { checkArgument, checkResultOf } from "../shared/check.ts"
import { nativeOf } from "../shared/native.ts"
import type { Context } from "../shared/types.ts"
import { HALVES, HOSTED_CALLS, type HostedCall } from "./rules.ts"

/** An item that ours do not have, as it was: `{item}`. */
export const ITEM = "openai:item"

const API = "openai-responses"

/** The call that an item is; undefined if it is none that the program runs. `pairs`: of the items of the same answer. */
export function hostedCall(item: Fields, pairs: Pairs, links: Fields = {}): ToolCallBlock | undefined {
  const kind = HOSTED_CALLS[String(item["type"])]
  const id = stringOf(item["call_id"]) ?? stringOf(item["id"])
  if (kind === undefined || id === undefined || isRunByApi(item) || pairs.outputs.has(pairOf(item))) return undefined
  const name = kind.name ?? stringOf(item["name"]) ?? ""
  const native = { api: API, fields: item, ...links }
  return { type: "toolCall", id, name, arguments: argumentsOf(item, kind), itemType: item["type"], native }
}

/** Shells in a container of OpenAI, and searches on its side. */
function isRunByApi({ environment, execution }: Fields): boolean {
  const { type } = fieldsOf(environment)
  return execution === "server" || (type !== undefined && type !== "local")
}

const OUTPUTS: ReadonlySet<unknown> = new Set(Object.values(HALVES))

/** The places of halves among items: the first call and the last output of each pair. */
export interface Pairs {
  readonly calls: ReadonlyMap<unknown, number>
  readonly outputs: ReadonlyMap<unknown, number>
}

export function pairsOf(items: readonly Fields[]): Pairs {
  const calls = new Map<unknown, number>()
  const outputs = new Map<unknown, number>()
  for (const [at, item] of items.entries()) {
    const pair = pairOf(item)
    if (OUTPUTS.has(item["type"])) outputs.set(pair, at)
    else if (pair !== undefined && !calls.has(pair)) calls.set(pair, at)
  }
  return { calls, outputs }
}

/** What both halves of a pair have; undefined for an item that has no other half. */
function pairOf({ type, call_id: callId }: Fields): string | undefined {
  const output = OUTPUTS.has(type) ? String(type) : HALVES[String(type)]
  return output === undefined ? undefined : `${output} ${JSON.stringify(callId)}`
}

/** Whether the item at a place has its other half, the call before the output, or needs none. */
export function hasOtherHalf(item: Fields, at: number, { calls, outputs }: Pairs): boolean {
  const pair = pairOf(item)
  if (pair === undefined) return true
  return OUTPUTS.has(item["type"]) ? (calls.get(pair) ?? at) < at : (outputs.get(pair) ?? at) > at
}

function argumentsOf(item: Fields, { arguments: keys }: HostedCall): Fields {
  const [key = "", ...more] = keys
  if (more.length === 0) return argumentsOfCall(item[key] ?? {})
  return Object.fromEntries(keys.flatMap((one) => (item[one] === undefined ? [] : [[one, item[one]]])))
}

/** Logs may have such calls as items, so that they could not be answered. */
export function withHostedCalls(context: Context): Context {
  const messages = context.messages.map((one): ContextMessage<ModelMessage> => {
    const { message } = one
    if (message.role !== "assistant" || !message.content.some(({ type }) => type === ITEM)) return one
    const pairs = pairsOf(message.content.map((block) => fieldsOf((block as Fields)["item"])))
    const content = message.content.map((block): ContentBlock => {
      if (block.type !== ITEM) return block
      return hostedCall(fieldsOf((block as Fields)["item"]), pairs) ?? block
    })
    return { ...one, message: { ...message, content } }
  })
  return { ...context, messages }
}

/**
 * The result of a call of one of OpenAI's own tools, as an entry for `session.append`: `output` has the fields of the output's item but its type and the
 * id of the call. Other providers get its texts and its screenshot. `invalid` for a call of another tool.
 *
 * ```ts
 * import type { ToolCallBlock } from "@sessions/core"
 * import { hostedResult } from "@sessions/providers/openai-responses"
 *
 * declare const call: ToolCallBlock // call.itemType is "shell_call"
 * const outcome = { type: "exit", exit_code: 0 }
 * hostedResult(call, { output: [{ stdout: "a.txt\n", stderr: "", outcome }] })
 * ```
 */
export function hostedResult(
  call: ToolCallBlock,
  output: object,
): { readonly type: "message"; readonly message: ToolResultMessage } {
  checkResultOf("hostedResult", call, output)
  checkArgument("hostedResult", isObject(output), "the fields of the output's item second", output)
  const { id: toolCallId, name: toolName, itemType } = call
  if (HOSTED_CALLS[String(itemType)] === undefined)
    throw new SessionError("invalid", `The call ${toolCallId} is none of a tool of OpenAI's own. Use \`toolResult\`.`)
  const fields = output as Fields
  const native = { api: API, fields: withoutScreenshot(fields) }
  const image = screenshotOf(fields)
  const content: readonly ContentBlock[] = [
    image === undefined ? { ...textBlock(textOfOutput(fields)), native } : { ...image, native },
  ]
  return { type: "message", message: { role: "toolResult", toolCallId, toolName, isError: isFailure(fields), content } }
}

function screenshotOf({ output }: Fields): ContentBlock | undefined {
  return imageOfDataUrl(fieldsOf(output)["image_url"])
}

/** The image is the block itself. */
function withoutScreenshot(fields: Fields): Fields {
  if (screenshotOf(fields) === undefined) return fields
  const { image_url: _, ...output } = fieldsOf(fields["output"])
  return { ...fields, output }
}

function textOfOutput({ output, status, approve, reason, tools }: Fields): string {
  if (typeof output === "string") return output
  if (Array.isArray(output)) {
    const texts = output.flatMap((one) => [fieldsOf(one)["stdout"], fieldsOf(one)["stderr"]])
    return texts.filter((text) => typeof text === "string" && text !== "").join("\n")
  }
  if (typeof approve === "boolean") return stringOf(reason) ?? (approve ? "Approved." : "Denied.")
  return JSON.stringify(output ?? tools ?? status ?? "")
}

function isFailure({ output, status, approve }: Fields): boolean {
  if (approve === false || status === "failed") return true
  if (!Array.isArray(output)) return false
  return output.some((one) => {
    const { type, exit_code: code } = fieldsOf(fieldsOf(one)["outcome"])
    return type === "timeout" || (type === "exit" && code !== 0)
  })
}

/** The item of a call's output; undefined if the API takes none that says this. `call`: the item of the call in the request. */
export function hostedOutput(call: Fields, { content, isError }: ToolResultMessage): Fields | undefined {
  const [type, id] = [String(call["type"]), call["call_id"] ?? call["id"]]
  const { output: outputType } = HOSTED_CALLS[type] as HostedCall
  const head = type === "mcp_approval_request" ? { approval_request_id: id } : { call_id: id }
  const given = content.find((block) => Object.keys(nativeOf(block, API)).length > 0)
  const fields = given === undefined ? {} : nativeOf(given, API)
  // Shortened or edited texts are sent as they are now.
  const isAsGiven = given?.type === "image" || (given?.type === "text" && given.text === textOfOutput(fields))
  const body = given !== undefined && isAsGiven ? ofGiven(given, fields) : ofResult(call, content, isError)
  if (body === undefined || (type === "computer_call" && !isAcknowledged(call, body))) return undefined
  return { type: outputType, ...head, ...callerOf(call), ...body }
}

/** Calls that a program of the API has made name it. */
function callerOf({ caller }: Fields): Fields {
  return fieldsOf(caller)["type"] === "program" ? { caller } : {}
}

function ofGiven(block: ContentBlock, fields: Fields): Fields {
  if (block.type !== "image") return fields
  return { ...fields, output: { ...fieldsOf(fields["output"]), image_url: dataUrlOf(block) } }
}

/** What `toolResult` has made, which knows no shapes. */
function ofResult(call: Fields, content: readonly ContentBlock[], isError: boolean): Fields | undefined {
  const text = textOf(content)
  switch (call["type"]) {
    case "local_shell_call":
      return { output: text }
    case "shell_call": {
      const { max_output_length: most } = fieldsOf(call["action"])
      const outcome = { type: "exit", exit_code: isError ? 1 : 0 }
      const output = [{ stdout: isError ? "" : text, stderr: isError ? text : "", outcome }]
      return { output, ...(typeof most === "number" ? { max_output_length: most } : {}) }
    }
    case "apply_patch_call":
      return { status: isError ? "failed" : "completed", output: text }
    case "tool_search_call":
      return { execution: "client", status: "completed", tools: [] }
    case "mcp_approval_request":
      // Nothing but a clear yes lets a tool run.
      return text === "true" && !isError
        ? { approve: true }
        : { approve: false, ...(text === "" ? {} : { reason: text }) }
    default: {
      const image = content.find(({ type }) => type === "image")
      if (image?.type !== "image") return undefined
      return { output: { type: "computer_screenshot", image_url: dataUrlOf(image) } }
    }
  }
}

/** Only the program can say that somebody has seen the warnings. */
function isAcknowledged(call: Fields, { acknowledged_safety_checks: seen }: Fields): boolean {
  const pending = call["pending_safety_checks"]
  if (!Array.isArray(pending)) return true
  const ids = new Set(Array.isArray(seen) ? seen.filter(isObject).map(({ id }) => id) : [])
  return pending.every((check) => ids.has(fieldsOf(check)["id"]))
}
