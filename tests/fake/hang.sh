#!/bin/sh
# A speech program that starts and never reads.
exec sleep 60
