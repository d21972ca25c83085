/* What every page stands on: Preact with htm, hooks and signals, out of npm. */
import { Fragment, h, render } from '../preact.js';
import htm from '../htm.js';

export const html = htm.bind(h);
export { Fragment, render };
export { useEffect, useLayoutEffect, useMemo, useRef, useState, useCallback, useId } from '../hooks.js';
export { signal, computed, effect } from '../signals.js';
