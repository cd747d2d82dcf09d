/** Rules of OpenAI's receivers, for bridges of SDKs that make the requests themselves. */
export { CHAT_DIALECTS, type ChatDialect, type ChatRules } from "./openai-chat/rules.ts"
export { isItemId } from "./openai-responses/fields.ts"
export {
  ID_OPTIONAL,
  ITEM_FORMS,
  PART_FIELDS,
  referenceProblem,
  RULES as RESPONSES_RULES,
  type ItemForm,
  type StoredItem,
} from "./openai-responses/rules.ts"
export { CallIds, sentName } from "./shared/call-names.ts"
export { type FittedImage, fittedImages } from "./shared/media.ts"
export type { Form, IdForm, Images, Order, Rules } from "./shared/rules.ts"
export { wellFormed } from "./shared/well-formed.ts"
