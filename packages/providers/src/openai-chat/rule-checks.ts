/** The check of a dialect: a name, or rules of the program's own, of which a misspelt one would be without effect. */
import { isObject } from "@sessions/formats/messages/values"
import { BOOLEAN, type Check, type Checks, COUNT, kind, oneOf, optionsOf, TEXT, TEXTS } from "../shared/check.ts"
import type { Form, IdForm, Images, Order } from "../shared/rules.ts"
import { CHAT_DIALECTS, type ChatRules } from "./rules.ts"

const PATTERN = kind("a regular expression", (value) => value instanceof RegExp)
const GLOBAL = kind("a regular expression with the flag `g`", (value) => value instanceof RegExp && value.global)
const END = oneOf("user", "any")

const FORM: Checks<Form> = { refused: GLOBAL, filler: TEXT, min: COUNT, max: COUNT, first: PATTERN, says: TEXT }
const FORM_NEEDS = ["refused", "filler", "min", "max", "says"] as const

const RULES: Check = optionsOf<ChatRules>({
  receiver: TEXT,
  callId: optionsOf<IdForm>({ ...FORM, once: BOOLEAN }, [...FORM_NEEDS, "once"]),
  callName: optionsOf<Form>(FORM, FORM_NEEDS),
  order: optionsOf<Order>({ begins: END, ends: END, joined: TEXTS, answersResults: BOOLEAN }, [
    "begins",
    "ends",
    "joined",
  ]),
  images: optionsOf<Images>(
    {
      types: TEXTS,
      maxLength: COUNT,
      maxSide: COUNT,
      maxTotal: COUNT,
      maxCount: COUNT,
      many: optionsOf<NonNullable<Images["many"]>>({ count: COUNT, maxSide: COUNT }, ["count", "maxSide"]),
    },
    ["types"],
  ),
  provider: TEXT,
  fields: TEXTS,
  callFields: TEXTS,
  foreignCall: kind("an object", isObject),
  maxCalls: kind("a number from 1", (value) => typeof value === "number" && value >= 1),
  reasoning: optionsOf<NonNullable<ChatRules["reasoning"]>>({ of: oneOf("calls", "all"), empty: TEXT }, [
    "of",
    "empty",
  ]),
  thinkingParts: BOOLEAN,
  otherParts: BOOLEAN,
  isOpenAI: BOOLEAN,
  systemFirst: BOOLEAN,
  joinsTexts: BOOLEAN,
  namesResults: BOOLEAN,
  imageAddresses: BOOLEAN,
})

const NAMES = Object.keys(CHAT_DIALECTS)
const NAME = kind(`rules, or one of the names ${NAMES.join(", ")}`, (value) => NAMES.includes(value as string))

export const DIALECT: Check = (value, call, name) => (isObject(value) ? RULES : NAME)(value, call, name)
