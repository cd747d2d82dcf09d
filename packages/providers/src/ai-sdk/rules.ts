/**
 * What the providers of the AI SDK take. The SDK sends ids, names and images as they are, and the roles in their order, so they have to fit the
 * provider, or each of them if it is not known. What the SDK makes of each part: `convert-to-…-messages.ts` and `-prompt.ts` in the sources of the
 * providers' packages, versions as in `package.json`. All sources were read on 2026-11-28.
 */
import { RULES as ANTHROPIC } from "../anthropic/rules.ts"
import { IN_RESPONSES, RULES as GEMINI, versionOf } from "../gemini/rules.ts"
import { CHAT_DIALECTS, type ChatRules } from "../openai-chat/rules.ts"
import { RULES as RESPONSES } from "../openai-responses/rules.ts"
import { TOOL_NAME } from "../shared/call-names.ts"
import type { IdForm, Images, Rules } from "../shared/rules.ts"
import { providerOf } from "./answer.ts"

/** The rules of a provider of the AI SDK. */
export interface AiSdkRules extends Rules {
  /** The provider's name in the log; "" if it is not known. */
  readonly provider: string | undefined
  /** Of an answer. */
  readonly maxCalls: number
  /** An answer may have images. Elsewhere the SDK leaves them out, or throws. */
  readonly answerImages: boolean
  /** The provider gets parts back that ours do not have, such as calls that it has executed itself. */
  readonly otherParts: boolean
  /**
   * The type and the id of a part of a call that the provider has executed itself, if it may be its own: answers do not always say who gave them. The id is
   * that of the item of a result, if it has one.
   */
  readonly hosted: RegExp
  /** Ids of items of the Responses API are sent, of which it takes some only. */
  readonly itemIds: boolean
  /** Goes on with a call of its own that a request ends with: `pause_turn` of platform.claude.com/docs/en/build-with-claude/handling-stop-reasons. */
  readonly pauses: boolean
  /** Goes on with a call of its own when the user has decided. What was asked is in its store: the SDK sends the decision alone. */
  readonly decides: boolean
  /** Empty texts are sent: they may have a signature. */
  readonly emptyTexts: boolean
  /**
   * Types of images in results. The SDK sends others as a text of their base64, or where the provider refuses them. Empty: a result is one text, of which the
   * SDK makes several results, or JSON.
   */
  readonly resultImages: readonly string[]
  /** Media types of files of the user but images. The SDK throws at others. */
  readonly files: RegExp
  /** Answers with calls have reasoning, and this one if they have none. */
  readonly reasoning?: string
}

/** The shortest is that of Chat Completions, which takes 40: https://github.com/vercel/ai/issues/5171 */
const CALL_ID: IdForm = {
  ...ANTHROPIC.callId,
  max: CHAT_DIALECTS.openai.callId.max,
  says: "ids of letters, digits, `_` and `-`, 40 at most, each once",
}

/** What the SDK tells apart by the first bytes of a file. */
const IMAGES: Images = { types: ["image/jpeg", "image/png", "image/gif", "image/webp"] }

/** A provider of which nothing is known. */
const ANY = {
  callId: CALL_ID,
  callName: TOOL_NAME,
  // Gemini wants a user's turn before a call, Anthropic's newer models one at the end.
  order: { begins: "user", ends: "user", joined: ["assistant", "tool"] },
  images: IMAGES,
  maxCalls: CHAT_DIALECTS.openai.maxCalls,
  answerImages: true,
  otherParts: true,
  hosted: /^/,
  emptyTexts: true,
  itemIds: true,
  pauses: true,
  decides: true,
  resultImages: IMAGES.types,
  files: /^/,
} satisfies Partial<AiSdkRules>

/** Receivers with an API of their own, of which the SDK knows most. */
function beside({ callId, images }: Rules): Partial<AiSdkRules> {
  return {
    callId,
    images,
    maxCalls: Number.POSITIVE_INFINITY,
    answerImages: false,
    emptyTexts: false,
    itemIds: false,
    pauses: false,
    decides: false,
    files: /^application\/pdf$/,
  }
}

/** Receivers of texts, calls and results alone: images in results are texts for the SDK, and calls that a provider has executed calls of ours. */
function chat({ callId, images, maxCalls, reasoning, order }: ChatRules): Partial<AiSdkRules> {
  return {
    callId,
    images,
    maxCalls,
    order: { ...ANY.order, answersResults: order.answersResults === true },
    answerImages: false,
    otherParts: false,
    emptyTexts: false,
    itemIds: false,
    pauses: false,
    decides: false,
    files: /^application\/pdf$/,
    resultImages: [],
    // An empty one is added by the SDK where it is taken.
    ...(reasoning === undefined || reasoning.empty === "" ? {} : { reasoning: reasoning.empty }),
  }
}

/** A call for which OpenAI has asked has an id of the SDK's. */
const OF_RESPONSES = /^tool-(?:call (?!(?:srv|mcp)toolu_)|result (?!(?:srv|mcp)toolu_)[a-z]+_)/

/** By the names of providers, or of models of a gateway such as `"openai/gpt-5"`: the first that fits. */
const PROVIDERS: readonly (readonly [RegExp, Partial<AiSdkRules>])[] = [
  [
    /anthropic/,
    { ...beside(ANTHROPIC), hosted: / (?:srv|mcp)toolu_/, pauses: true, files: /^(?:application\/pdf|text\/plain)$/ },
  ],
  // Before version 3 a model takes no images in results.
  [
    /^google/,
    { ...beside(GEMINI), hosted: / (?![a-z]+_)/, answerImages: true, emptyTexts: true, files: /^/, resultImages: [] },
  ],
  [/\.responses$|^openai\//, { ...beside(RESPONSES), hosted: OF_RESPONSES, itemIds: true, decides: true }],
  [/^mistral/, chat(CHAT_DIALECTS.mistral)],
  // The SDK leaves files out, and with them a message that has nothing else.
  [/^deepseek/, { ...chat(CHAT_DIALECTS.deepseek), files: /^$/ }],
  [/^(?:kimi|moonshot)/, { ...chat(CHAT_DIALECTS.kimi), files: /^$/ }],
  [/^openai\.chat$/, chat(CHAT_DIALECTS.openai)],
  [/\.chat$/, { ...chat(CHAT_DIALECTS.openai), callId: CALL_ID }],
]

/** `provider`: of the model, such as `"anthropic.messages"`; "" if it is not known. */
export function rulesOf(provider = "", modelId?: string): AiSdkRules {
  const found = PROVIDERS.find(([name]) => name.test(provider))?.[1] ?? {}
  const isNewGemini = provider.startsWith("google") && versionOf(modelId ?? provider) >= 3
  return {
    ...ANY,
    provider: providerOf(provider.split("/")[0]),
    receiver: provider || "A provider of the AI SDK",
    ...found,
    ...(isNewGemini ? { resultImages: [...IN_RESPONSES] } : {}),
  }
}
