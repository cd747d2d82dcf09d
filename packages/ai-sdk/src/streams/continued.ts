/**
 * The message that a run continues, as chunks. A page that resumes a stream begins its message anew with the first chunk `start`, and needs
 * the parts from before the run again.
 */
import { type Fields, isObject } from "../json.ts"
import { isTool, type Part, toolName } from "../parts.ts"
import type { ChatMessage } from "../types.ts"
import type { Chunk } from "./chunks.ts"

/** The chunk `start` of a run, and behind it the message that the run continues. */
export function startContinued(start: Chunk, { metadata, parts }: ChatMessage): Chunk[] {
  const { messageMetadata, ...rest } = start
  return [rest, ...metadataChunk(metadata), ...(parts as Part[]).flatMap(partChunks), ...metadataChunk(messageMetadata)]
}

function metadataChunk(messageMetadata: unknown): Chunk[] {
  return messageMetadata === undefined ? [] : [{ type: "message-metadata", messageMetadata }]
}

function partChunks(part: Part, index: number): Chunk[] {
  if (part.type === "step-start") return [{ type: "start-step" }]
  if (part.type === "text" || part.type === "reasoning") return textChunks(part, `before-${index}`)
  // The other parts are chunks as they are: files, sources, data.
  return isTool(part) ? toolChunks(part) : [part]
}

function textChunks({ type, text, state, citations, providerMetadata }: Part, id: string): Chunk[] {
  return [
    { type: `${type}-start`, id, providerMetadata },
    { type: `${type}-delta`, id, delta: text },
    ...(state === "streaming" ? [] : [{ type: `${type}-end`, id, citations }]),
  ]
}

/**
 * A page runs its own tools when it gets their input, unless the provider executes them. A tool that has gone on since is not to run
 * again, so its input says that, and the next chunk takes it back.
 */
function toolChunks(part: Part): Chunk[] {
  const { toolCallId, input, title, toolMetadata, callProviderMetadata: providerMetadata, approval, state } = part
  const providerExecuted = part["providerExecuted"] ?? false
  const chunk: Fields = {
    toolCallId,
    toolName: toolName(part),
    dynamic: part.type === "dynamic-tool",
    title,
    toolMetadata,
  }
  if (state === "input-streaming") return [{ type: "tool-input-start", ...chunk, inputEncoding: part["inputEncoding"] }]
  const isWaiting = state === "input-available" || state === "approval-requested"
  return [
    {
      type: "tool-input-available",
      ...chunk,
      input,
      providerMetadata,
      ...(isWaiting ? { providerExecuted: part["providerExecuted"] } : { providerExecuted: true }),
    },
    ...(isObject(approval) ? approvalChunks(approval, { toolCallId, providerExecuted }) : []),
    ...outputChunks(part, { toolCallId, providerExecuted, providerMetadata: part["resultProviderMetadata"] }),
  ]
}

function approvalChunks(approval: Fields, { toolCallId, providerExecuted }: Fields): Chunk[] {
  const { id: approvalId, descriptor, requestReason, approved, reason, ...rest } = approval
  return [
    {
      type: "tool-approval-request",
      approvalId,
      toolCallId,
      approvalDescriptor: descriptor,
      reason: requestReason,
      ...rest,
    },
    ...(approved === undefined
      ? []
      : [{ type: "tool-approval-response", approvalId, approved, reason, providerExecuted }]),
  ]
}

function outputChunks({ state, output, preliminary, errorText }: Part, chunk: Fields): Chunk[] {
  if (state === "output-available") return [{ type: "tool-output-available", ...chunk, output, preliminary }]
  if (state === "output-error") return [{ type: "tool-output-error", ...chunk, errorText }]
  return state === "output-denied" ? [{ type: "tool-output-denied", toolCallId: chunk["toolCallId"] }] : []
}
