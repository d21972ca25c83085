/* What was typed of an agent and is not saved: kept in this browser for its own member alone, until they save it or sign out. */
import { session } from './api.js';
import { keep, stored } from '../language.js';

const FIRST = 'earshot.draft.';
/* What the names of the drafts of who is signed in begin with. */
export const draftsOfMine = () => `${FIRST}${session.value.workspace.id}.${session.value.member.id}.`;
export const draftName = (id) => `${draftsOfMine()}${id}`;

/* Older ones belong to nobody who is known. */
const isOlder = (name) => /^earshot\.draft\.[^.]+$/.test(name);
function names(test) {
  try { return Object.keys(localStorage).filter(test); } catch { return []; }
}
export const hasDrafts = () => names((name) => name.startsWith(draftsOfMine())).length > 0;
export function dropDraft(name) {
  try { localStorage.removeItem(name); } catch { /* it never was there */ }
}
export function dropDrafts(whose) {
  names((name) => name.startsWith(whose) || isOlder(name)).forEach(dropDraft);
}

/* Anybody may have written there, and an agent may have had another form: what does not fit is as if it was never typed. */
const isMap = (value) => value !== null && typeof value === 'object' && !Array.isArray(value);
const textOr = (value, other) => (typeof value === 'string' ? value : other);
const fitVariables = (value, own) => (isMap(value) && Object.values(value).every(isMap)
  ? Object.fromEntries(Object.entries(value).map(([name, one]) => [name, { defaultValue: textOr(one.defaultValue, ''), description: textOr(one.description, '') }])) : own);

/* As `own` is; a number may be half typed. */
function fit(value, own) {
  if (Array.isArray(own)) return Array.isArray(value) && value.every((one) => typeof one === 'string') ? value : own;
  if (isMap(own)) return isMap(value) ? Object.fromEntries(Object.keys(own).map((name) => [name, fit(value[name], own[name])])) : own;
  return typeof value === typeof own || (typeof own === 'number' && typeof value === 'string') ? value : own;
}

/* { changes, updatedAt }: of those fields, and since which state of the agent; null: none. */
export function readDraft(name, agent, fields) {
  let kept;
  try { kept = JSON.parse(stored(name)); } catch { return null; }
  if (!isMap(kept?.changes) || Number.isNaN(Date.parse(textOr(kept.updatedAt, '')))) return null;
  const typed = fields.filter((field) => Object.hasOwn(kept.changes, field));
  const changes = typed.map((field) => [field, (field === 'variables' ? fitVariables : fit)(kept.changes[field], agent[field])]);
  return { changes: Object.fromEntries(changes), updatedAt: kept.updatedAt };
}

export const keepDraft = (name, draft) => keep(name, JSON.stringify(draft));
