/** Rules of receivers, for bridges of SDKs that make the requests themselves. */
export { isItemId } from "./openai-responses/fields.ts"
export { ID_OPTIONAL, referenceProblem, RULES as RESPONSES_RULES, type StoredItem } from "./openai-responses/rules.ts"
export { CallIds, sentName } from "./shared/fit.ts"
export type { Form, IdForm, Images, Order, Rules } from "./shared/rules.ts"
export { wellFormed } from "./shared/well-formed.ts"
