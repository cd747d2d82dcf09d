/** Schemas of entries: every line of a log but the first. */
import * as z from "zod"
import { byName, count, mapOf, modelRef, usage } from "./common.ts"
import { content, message, roles } from "./content.ts"

const base = {
  id: z.string().min(1),
  parentId: z.string().nullable().meta({ description: "Null for a root." }),
  seq: count.meta({ description: "The entry's index in its log; the header is 0." }),
  timestamp: z.string().meta({ description: "ISO 8601." }),
  writtenAt: z
    .string()
    .meta({
      description: "ISO 8601: when the line was written, if that is more than a day after its entry's own time.",
    })
    .exactOptional(),
  blobs: mapOf(z.enum(["utf8", "base64"]))
    .meta({ description: "JSON pointers to the strings that were replaced by `blob:sha256:<64 hex>`." })
    .exactOptional(),
}

const targetSeq = count.meta({ description: "Seq of the target; a hint, checked by the id." }).exactOptional()
const settles = z
  .array(z.string())
  .meta({ description: "Ids of the ends of branches that its writer left knowingly." })
  .exactOptional()
const anything = z.unknown().exactOptional()

export const state = z.looseObject({
  thinkingLevel: z.string(),
  models: mapOf(modelRef),
  modelIsExplicit: z.boolean(),
  mode: z.string(),
  modeData: anything,
  injectedTtsrRules: z.array(z.string()),
  systemPromptOverride: z.string().exactOptional(),
})

const tokens = z.number().nonnegative()

const ruler = z.looseObject({
  overhead: tokens.meta({ description: "Tokens of what no entry shows." }).exactOptional(),
  measured: z
    .looseObject({ tokens, units: tokens })
    .meta({ description: "Messages that providers have measured: their tokens and their units." })
    .exactOptional(),
  limits: mapOf(
    z.looseObject({
      units: tokens.exactOptional(),
      count: tokens.exactOptional(),
      accepted: tokens.exactOptional(),
      bytes: tokens.exactOptional(),
      acceptedBytes: tokens.exactOptional(),
      images: tokens.exactOptional(),
    }),
  )
    .meta({ description: "By the name of the model: what it has refused, and the most that it has accepted." })
    .exactOptional(),
})

/** One schema for each known type of entry. */
export const entries = {
  message: z.looseObject({ type: z.literal("message"), ...base, message }),
  custom_message: z.looseObject({
    type: z.literal("custom_message"),
    ...base,
    customType: z.string(),
    content,
    display: z.boolean().meta({ description: "False: hidden from people. The model sees it either way." }),
    details: anything,
  }),
  compaction: z.looseObject({
    type: z.literal("compaction"),
    ...base,
    summary: z.string(),
    shortSummary: z.string().exactOptional(),
    firstKeptEntryId: z.string().meta({ description: "Its own id: nothing before it is kept." }),
    firstKeptSeq: count.exactOptional(),
    tokensBefore: z.number(),
    tokensSummarized: z.number().exactOptional(),
    summaryAs: z.enum(["user", "pair"]).exactOptional(),
    outdated: z.array(z.string()).exactOptional(),
    readFiles: z.array(z.string()),
    modifiedFiles: z.array(z.string()),
    details: anything,
    preserveData: anything,
    fromExtension: z.boolean().exactOptional(),
    usage: usage.exactOptional(),
    system: z
      .array(z.looseObject({ id: z.string(), message: roles.system }))
      .meta({ description: "System messages before the kept part, which stay in the context." })
      .exactOptional(),
    question: z
      .looseObject({ id: z.string(), message })
      .meta({
        description: "The question before the kept part that the model was working on: it stays in the context.",
      })
      .exactOptional(),
    state: state.exactOptional(),
    ruler: ruler.exactOptional(),
  }),
  branch_summary: z.looseObject({
    type: z.literal("branch_summary"),
    ...base,
    fromId: z.string().meta({ description: 'The leaf that was left, or "root".' }),
    summary: z.string(),
    details: anything,
    fromExtension: z.boolean().exactOptional(),
    usage: usage.exactOptional(),
    settles,
  }),
  context_edit: z.looseObject({
    type: z.literal("context_edit"),
    ...base,
    targetId: z.string(),
    targetSeq,
    replacement: z
      .looseObject({ content })
      .nullable()
      .meta({ description: "Null leaves the target out of the context." }),
  }),
  tombstone: z.looseObject({ type: z.literal("tombstone"), ...base, targetId: z.string(), targetSeq }),
  reset_boundary: z.looseObject({ type: z.literal("reset_boundary"), ...base, state: state.exactOptional() }),
  model_change: z.looseObject({
    type: z.literal("model_change"),
    ...base,
    provider: z.string(),
    model: z.string(),
    role: z.string().meta({ description: 'Missing: "default".' }).exactOptional(),
  }),
  thinking_level_change: z.looseObject({
    type: z.literal("thinking_level_change"),
    ...base,
    thinkingLevel: z.string(),
  }),
  mode_change: z.looseObject({ type: z.literal("mode_change"), ...base, mode: z.string(), data: anything }),
  ttsr_injection: z.looseObject({
    type: z.literal("ttsr_injection"),
    ...base,
    injectedRules: z.array(z.string()),
  }),
  session_init: z.looseObject({
    type: z.literal("session_init"),
    ...base,
    systemPrompt: z.string(),
    task: z.string().exactOptional(),
    tools: z.array(z.unknown()),
    outputSchema: anything,
  }),
  label: z.looseObject({
    type: z.literal("label"),
    ...base,
    targetId: z.string(),
    targetSeq,
    label: z.string().meta({ description: "Missing clears." }).exactOptional(),
  }),
  title_change: z.looseObject({
    type: z.literal("title_change"),
    ...base,
    title: z.string().nullable().meta({ description: "Null clears." }),
    source: z
      .enum(["user", "auto"])
      .meta({ description: "A user title wins over an auto title whatever their order." }),
  }),
  metadata: z.looseObject({
    type: z.literal("metadata"),
    ...base,
    key: z.string(),
    value: z.unknown().refine((value): boolean => value !== undefined, { error: "must be there" }),
  }),
  usage: z.looseObject({
    type: z.literal("usage"),
    ...base,
    kind: z.string(),
    provider: z.string().exactOptional(),
    model: z.string().exactOptional(),
    usage,
  }),
  file_snapshot: z.looseObject({
    type: z.literal("file_snapshot"),
    ...base,
    messageId: z.string(),
    files: mapOf(z.looseObject({ blob: z.string().nullable(), version: z.number() })),
  }),
  leaf: z
    .looseObject({ type: z.literal("leaf"), ...base, targetSeq, settles })
    .meta({ description: "`parentId` is the branch that becomes the active one; null after a reset." }),
  context_refusal: z.looseObject({
    type: z.literal("context_refusal"),
    ...base,
    kind: z.enum(["tokens", "bytes", "images"]).meta({ description: "What there was too much of." }),
    provider: z.string().exactOptional(),
    model: z.string().exactOptional(),
    units: tokens.meta({ description: "The estimate of the refused messages." }),
    bytes: tokens.meta({ description: "UTF-8 bytes of the refused messages as JSON." }),
    count: tokens
      .meta({ description: "Tokens or images of the request, as the provider has named them." })
      .exactOptional(),
    limit: tokens.meta({ description: "The most images of a request, as the provider has named it." }).exactOptional(),
  }),
  context_step: z.looseObject({
    type: z.literal("context_step"),
    ...base,
    step: z.enum(["results", "images", "cut", "left_out", "failed", "end"]),
    provider: z.string().meta({ description: "At the end: that of the model that has refused." }).exactOptional(),
    model: z.string().exactOptional(),
    units: tokens
      .meta({
        description:
          "By the estimate: what a cut message keeps at most; the messages that were too many; at the end the smallest form of them.",
      })
      .exactOptional(),
    upTo: z.string().meta({ description: "The last entry that the step is for." }).exactOptional(),
    except: z.string().meta({ description: "The entry of a question whose images stay." }).exactOptional(),
    ids: z.array(z.string()).meta({ description: "The entries that are left out." }).exactOptional(),
    window: tokens
      .meta({ description: "The step holds as long as the window in force is not larger." })
      .exactOptional(),
  }),
  tool_policy: z
    .looseObject({
      type: z.literal("tool_policy"),
      ...base,
      never: z
        .array(z.string())
        .meta({ description: "Tools that must not be repeated: each call has a `tool_start`." }),
      safe: z.array(z.string()).meta({ description: "Tools that may be repeated: their calls have no `tool_start`." }),
    })
    .meta({ description: "The tools of the turn that it is written in." }),
  tool_start: z
    .looseObject({
      type: z.literal("tool_start"),
      ...base,
      targetId: z.string().meta({ description: "The entry of the assistant message with the call." }),
      targetSeq,
      callId: z.string(),
      call: count.meta({ description: "Place of the call among those of its message, from 0." }),
      toolName: z.string(),
      attempt: count.meta({ description: "From 1." }),
      key: z
        .string()
        .meta({ description: "For receivers that recognize a repeated request; the same in every attempt." }),
      run: z.string().meta({ description: "Unique for each execution that was asked for." }),
      fence: count.exactOptional(),
    })
    .meta({ description: "A tool call is about to run. Its id is `<targetId>.<call>.<attempt>`." }),
  fence: z
    .looseObject({
      type: z.literal("fence"),
      ...base,
      fence: count.meta({ description: "Grows with each turn that takes the lease." }),
    })
    .meta({
      description: "A turn with a lease begins. Behind it is nothing of turns that had the lease before.",
    }),
  custom: z.looseObject({ type: z.literal("custom"), ...base, customType: z.string(), data: anything }),
}

/** An entry. Entries of unknown types are kept, and are part of the tree. */
export const entry = byName("type", entries, (type) => z.looseObject({ type, ...base }), ["session"]).meta({
  title: "An entry of a session log",
})
