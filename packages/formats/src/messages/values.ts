/** Conversions of values that the mappings of messages share, and the count of what a mapping leaves out. */
export { Losses } from "../base/losses.ts"
export {
  argumentsOf,
  argumentsOfCall,
  dataUrlOf,
  type Fields,
  fieldsOf,
  imageOfDataUrl,
  isObject,
  numberOf,
  stringOf,
  textBlock,
  textOf,
} from "../base/values.ts"
export type { Loss } from "../base/format.ts"
