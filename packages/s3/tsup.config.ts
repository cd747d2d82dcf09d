export { default } from "../../.config/tsup.ts"
