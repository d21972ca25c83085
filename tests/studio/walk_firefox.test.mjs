/* The walk (walk.mjs) in Debian's Firefox, which hears the same WAV file from a sound server of the test's own. */
import { hasFirefox, openFirefox } from '../harness/firefox.mjs';
import { walk } from './walk.mjs';

walk(openFirefox, { skip: !hasFirefox() && 'firefox-esr is not installed' });
