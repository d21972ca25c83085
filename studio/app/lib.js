/* What every page stands on: Preact with htm, hooks and signals, out of npm. */
import { Fragment, h, render } from 'preact';
import htm from 'htm';

export const html = htm.bind(h);
export { Fragment, render };
export { useEffect, useLayoutEffect, useMemo, useRef, useState, useCallback, useId } from 'preact/hooks';
export { signal, computed, effect } from '@preact/signals';
